import { useMemo, useState } from "preact/hooks";
import type { Tree } from "../api";
import { BoardPanel, sides } from "../board/BoardPanel";
import { valueColour } from "../board/Grid";
import { analysis, preview, session } from "../state";
import { Findings } from "../views/Analyse";
import { number } from "../views/MoveTable";
import { TreeMap } from "../views/TreeMap";
import { below, type Snapshot } from "./snapshot";

const LINES = 5;

/** One search as it stood: board, moves, principal variations and tree, without a server. */
export function Still({ snapshot }: { snapshot: Snapshot }) {
  const found = analysis.value;
  if (!found || !session.value) return null;
  const { position } = snapshot;
  const show = (moves: string[]) => (preview.value = moves);
  return (
    <div class={`still ${sides(position.board)}`}>
      <div class="title">
        <h1>{snapshot.game.replaceAll("_", " ")}</h1>
        <p>{position.moves.length > 0 ? <>after <span class="played">{position.moves.join(" ")}</span></> : position.ply === 0 ? "at the start" : `after ${position.ply} moves`}</p>
      </div>
      <div class="two">
        <section class="stage" aria-label="Board"><BoardPanel /></section>
        <section class="panel" aria-label="Moves">
          <Findings found={found} players={position.players} onPreview={show} />
          {snapshot.analysis.left > 0 && <p class="note">{snapshot.analysis.left.toLocaleString("en")} more moves are not shown.</p>}
          <Lines snapshot={snapshot} onPreview={show} />
        </section>
      </div>
      <section aria-label="Tree">
        <h3>Tree</h3>
        {snapshot.tree ? <StillTree tree={snapshot.tree} /> : <p class="note">The tree is not here: the search had continued, or was merged from several searches.</p>}
      </section>
      <p class="note foot">
        <span>{found.config}, seed {found.seed}</span>
        <span>{snapshot.elapsed >= 0.01 ? `${snapshot.elapsed.toPrecision(3)} s` : ""}</span>
      </p>
    </div>
  );
}

/** The variations of the most visited moves. */
function Lines({ snapshot, onPreview }: { snapshot: Snapshot; onPreview: (moves: string[]) => void }) {
  const lines = snapshot.analysis.moves.filter((one) => one.pv.length > 1).slice(0, LINES);
  if (!lines.length) return null;
  return (
    <>
      <h3>Principal variations</h3>
      <ol class="lines">
        {lines.map((one) => (
          <li key={one.move} tabIndex={0} onMouseEnter={() => onPreview(one.pv)} onMouseLeave={() => onPreview([])} onFocus={() => onPreview(one.pv)} onBlur={() => onPreview([])}>
            <i class="swatch" style={{ background: valueColour(one.winrate) }} />
            <b>{number(one.utility)}</b>
            <span>{one.pv.join(" ")}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

function StillTree({ tree }: { tree: Tree }) {
  const [path, setPath] = useState<number[]>([]);
  const shown = useMemo(() => below(tree, path), [tree, path]);
  return <TreeMap tree={shown} onOpen={setPath} />;
}
