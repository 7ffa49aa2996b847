import { useEffect, useState } from "preact/hooks";
import { api, type Tree } from "../api";
import { analysis, attempt, go, play, session, think } from "../state";
import { TreeMap } from "./TreeMap";

const MOST = 1500;

/** The tree of the search of the position. The server sends the nodes that can be seen, the most visited first. */
export function TreeView() {
  const shown = session.value!;
  const [tree, setTree] = useState<Tree | null>(null);
  const load = (path: number[]) => void attempt(async () => setTree(await api.tree(shown.session, path, MOST)));
  const searched = analysis.value?.simulations ?? 0;
  useEffect(() => { if (searched && !shown.thinking) load([]); }, [shown.session, shown.ply, shown.thinking, searched]);
  useEffect(() => setTree(null), [shown.session, shown.ply]);
  const searchFrom = async (moves: string[]) => {
    if (shown.ply !== session.value!.ply) return;
    for (const move of moves) if (!(await play(move))) return;
    await think({ visits: 100_000, seconds: 30 });
  };
  const find = async (moves: string[]): Promise<string> => {
    const path = [...tree!.path];
    for (const [place, move] of moves.entries()) {
      const found = await api.tree(shown.session, path, 400).catch(() => null);
      const next = found?.nodes.find((node) => node.parent === 0 && node.move === move);
      if (!next) return `no ${move} ${place ? `after ${moves.slice(0, place).join(" ")}` : "here"}`;
      path.push(next.action);
    }
    load(path);
    return "";
  };
  const search = () => void think({ visits: searched + 100_000, seconds: 30 });
  if (!tree)
    return (
      <div class="treestart">
        <p class="note">{searched && !shown.thinking ? "Loading…" : shown.thinking ? "Searching…" : shown.position.over ? "The game is over: step back to a position that can be searched." : "There is no tree yet: search the position first."}</p>
        <div class="buttons">
          <button class="primary" onClick={search} disabled={shown.thinking || shown.position.over}>Search 100,000 simulations</button>
          {shown.ply > 0 && <button onClick={() => void go(shown.ply - 1)}>Back one move</button>}
        </div>
      </div>
    );
  return (
    <TreeMap tree={tree} onOpen={load} onSearch={(moves) => void searchFrom(moves)} onFind={find}>
      <button onClick={search} disabled={shown.thinking}>{shown.thinking ? "Searching…" : "Search on"}</button>
      {shown.ply > 0 && <button class="quiet" onClick={() => void go(shown.ply - 1)}>Back one move</button>}
    </TreeMap>
  );
}
