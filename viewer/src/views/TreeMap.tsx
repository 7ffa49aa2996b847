import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Tree } from "../api";
import { useColours } from "../chart";
import { playerName } from "../state";
import { number, percent } from "./MoveTable";
import { layout, paint, paintSmall, ROW, type Box, type Shade, type Zoom } from "./treemap";

const WHOLE: Zoom = { left: 0, scale: 1 };
const SHADES: [Shade, string][] = [["value", "value"], ["visits", "visits"], ["uncertainty", "uncertainty"], ["prior", "prior"]];
const clamp = ({ left, scale }: Zoom): Zoom => ({ scale, left: Math.min(1 - 1 / scale, Math.max(0, left)) });

/** A tree in boxes as wide as their visits. `onOpen` gets the actions from the root of the search to a node. */
export function TreeMap({ tree, onOpen, onSearch, onFind, children }: {
  tree: Tree; onOpen: (path: number[]) => void; onSearch?: (moves: string[]) => void;
  /** Look for a path beyond the nodes that are here; it returns what was wrong, or nothing. */
  onFind?: (moves: string[]) => Promise<string>; children?: preact.ComponentChildren;
}) {
  const [shade, setShade] = useState<Shade>("value");
  const [zoom, setZoom] = useState<Zoom>(WHOLE);
  const [chosen, setChosen] = useState("");
  const [folded, setFolded] = useState<Set<string>>(new Set());
  const [wanted, setWanted] = useState("");
  const [answer, setAnswer] = useState("");
  const [marked, setMarked] = useState<Set<number> | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const small = useRef<HTMLCanvasElement>(null);
  const boxes = useMemo(() => layout(tree, folded), [tree, folded]);
  const byIndex = useMemo(() => new Map(boxes.map((box) => [box.index, box])), [boxes]);
  const here = boxes.find((box) => box.key === chosen) ?? boxes[0]!;
  const deepest = Math.max(...boxes.map((box) => box.depth)) + 1;
  const colours = useColours();
  useEffect(() => { setZoom(WHOLE); setChosen(""); setFolded(new Set()); setMarked(null); }, [tree.path.join(",")]);
  useEffect(() => {
    const picture = { boxes, zoom, shade, chosen: here.key, folded, marked };
    const draw = () => { if (canvas.current) paint(canvas.current, picture); if (small.current) paintSmall(small.current, picture); };
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, [boxes, zoom, shade, here, folded, marked, colours]);

  const show = (box: Box) => {
    setChosen(box.key);
    setZoom((old) => (box.x >= old.left - 1e-9 && box.x + box.width <= old.left + 1 / old.scale + 1e-9 ? old
      : clamp({ scale: old.scale, left: box.x + box.width / 2 - 0.5 / old.scale })));
  };
  const fold = (box: Box) => setFolded((old) => { const next = new Set(old); if (!next.delete(box.key)) next.add(box.key); return next; });
  const zoomAt = (at: number, factor: number) => setZoom((old) => {
    const scale = Math.min(500, Math.max(1, old.scale * factor));
    return clamp({ scale, left: old.left + at / old.scale - at / scale });
  });
  const centre = () => Math.min(1, Math.max(0, (here.x + here.width / 2 - zoom.left) * zoom.scale));
  const open = (box: Box) => onOpen([...tree.path, ...box.path]);
  const namesTo = (box: Box): string[] => (box.node.parent < 0 ? [] : [...namesTo(byIndex.get(box.node.parent)!), box.node.move]);
  const find = async () => {
    const moves = wanted.trim().split(/[\s,;]+/).filter(Boolean);
    setMarked(null);
    setAnswer("");
    if (!moves.length) return;
    let at = boxes[0]!;
    let steps = 0;
    for (const move of moves) {
      const next = boxes.find((box) => box.node.parent === at.index && box.node.move === move);
      if (!next) break;
      at = next;
      steps += 1;
    }
    if (steps === moves.length) return show(at);
    const same = boxes.filter((box) => box.node.move === moves[0]);
    if (moves.length === 1 && same.length) {
      setMarked(new Set(same.map((box) => box.index)));
      setAnswer(`${same.length} ${same.length === 1 ? "node" : "nodes"}`);
      return show(same[0]!);
    }
    setAnswer((await onFind?.(moves)) ?? `no ${moves[steps]} there`);
  };
  const keys = (event: KeyboardEvent) => {
    const below = boxes.filter((box) => box.node.parent === here.index).sort((a, b) => b.node.visits - a.node.visits);
    const beside = boxes.filter((box) => box.depth === here.depth).sort((a, b) => a.x - b.x);
    const at = beside.findIndex((box) => box.index === here.index);
    const to = { ArrowDown: below[0], ArrowUp: byIndex.get(here.node.parent), ArrowLeft: beside[at - 1], ArrowRight: beside[at + 1] }[event.key];
    if (to) show(to);
    else if (event.key === "Enter") open(here);
    else if (event.key === "Backspace" && tree.path.length) onOpen(tree.path.slice(0, -1));
    else if (event.key === "f") fold(here);
    else if (event.key === "+" || event.key === "=") zoomAt(centre(), 1.6);
    else if (event.key === "-") zoomAt(centre(), 1 / 1.6);
    else if (event.key === "0") setZoom(WHOLE);
    else return;
    event.preventDefault();
  };
  const boxAt = (event: MouseEvent): Box | undefined => {
    const area = canvas.current!.getBoundingClientRect();
    const x = (event.clientX - area.left) / area.width / zoom.scale + zoom.left;
    const depth = Math.floor((event.clientY - area.top) / ROW);
    return boxes.find((box) => box.depth === depth && x >= box.x && x < box.x + box.width);
  };
  const drag = useRef<number | null>(null);
  const slide = (event: PointerEvent) => {
    const area = small.current!.getBoundingClientRect();
    setZoom((old) => clamp({ scale: old.scale, left: (event.clientX - area.left) / area.width - 0.5 / old.scale }));
  };
  return (
    <div class="treeview">
      <div class="treebar">
        <nav class="crumbs" aria-label="Path">
          <button class="quiet" onClick={() => onOpen([])}>root</button>
          {tree.moves.map((move, place) => <button key={place} class="quiet" onClick={() => onOpen(tree.path.slice(0, place + 1))}>{move}</button>)}
        </nav>
        {children}
        <form class="find" role="search" onSubmit={(event) => { event.preventDefault(); void find(); }}>
          <input type="search" value={wanted} placeholder="Find a move, or a path" aria-label="Find a move, or a path of moves" onInput={(event) => { setWanted(event.currentTarget.value); if (!event.currentTarget.value) { setMarked(null); setAnswer(""); } }} />
          <button>Find</button><output>{answer}</output>
        </form>
        <label>Colour <select value={shade} onChange={(event) => setShade(event.currentTarget.value as Shade)}>{SHADES.map(([name, title]) => <option key={name} value={name}>{title}</option>)}</select></label>
        <span class="zoom" role="group" aria-label="Zoom">
          <button onClick={() => zoomAt(centre(), 1 / 1.6)} disabled={zoom.scale === 1} aria-label="Zoom out">−</button>
          <button onClick={() => setZoom(WHOLE)} disabled={zoom.scale === 1}>Whole width</button>
          <button onClick={() => zoomAt(centre(), 1.6)} aria-label="Zoom in">+</button>
        </span>
      </div>
      <div class="treeparts">
        <div class="treemain">
          <canvas ref={small} class="minimap" role="img" aria-label="The whole tree, small; the frame is what is shown below"
            onPointerDown={slide} onPointerMove={(event) => { if (event.buttons === 1) slide(event); }} />
          <div class="treescroll">
            <canvas ref={canvas} class="treemap" style={{ height: `${deepest * ROW}px` }} tabIndex={0} role="application"
              aria-label="The tree. Arrow keys walk, Enter opens a node, Backspace goes back, f folds, plus and minus zoom." onKeyDown={keys}
              onWheel={(event) => {
                const around = canvas.current!.parentElement!;
                if (!event.ctrlKey && around.scrollHeight > around.clientHeight) return; // the wheel scrolls what is too high
                event.preventDefault();
                const area = canvas.current!.getBoundingClientRect();
                zoomAt((event.clientX - area.left) / area.width, Math.exp(-event.deltaY / 400));
              }}
              onPointerDown={(event) => (drag.current = event.clientX)} onPointerUp={() => (drag.current = null)} onPointerLeave={() => (drag.current = null)}
              onPointerMove={(event) => {
                if (drag.current === null || event.buttons !== 1 || zoom.scale === 1) return;
                const moved = (event.clientX - drag.current) / canvas.current!.clientWidth / zoom.scale;
                drag.current = event.clientX;
                setZoom((old) => clamp({ ...old, left: old.left - moved }));
              }}
              onClick={(event) => { const box = boxAt(event); if (box) setChosen(box.key); }}
              onDblClick={(event) => { const box = boxAt(event); if (box) open(box); }} />
          </div>
          <TreeLegend shade={shade} tree={tree} />
        </div>
        <Details box={here} tree={tree} boxes={boxes} isFolded={folded.has(here.key)} names={namesTo(here)} open={open} fold={fold} show={show} onSearch={onSearch} />
      </div>
    </div>
  );
}

/** Whether values are shown from one view: the loss of one player is the gain of the other. */
const isZeroSum = (tree: Tree) => typeof tree.nodes[0]!.player === "number" && Math.abs(tree.range[0] + tree.range[1]) < 1e-9;

function TreeLegend({ shade, tree }: { shade: Shade; tree: Tree }) {
  const whose = playerName(tree.nodes[0]!.player);
  const flips = isZeroSum(tree);
  const ends = { value: ["worst", `best for ${flips ? whose : "who chose it"}`], visits: ["few visits", "many"], uncertainty: ["certain", "uncertain: standard error"], prior: ["low prior", "high"] }[shade];
  return (
    <p class="treelegend">
      <span>{ends[0]} <i class={`ramp ${shade}`} /> {ends[1]}</span>
      <span><i class="key proven" /> proven</span><span><i class="key end" /> end of the game</span><span><i class="key striped" /> chance, or simultaneous moves</span>
      <span>{tree.nodes.length.toLocaleString("en")} of {tree.size.toLocaleString("en")} nodes, the most visited first; Ctrl and the wheel zoom</span>
    </p>
  );
}

function Details({ box, tree, boxes, isFolded, names, open, fold, show, onSearch }: {
  box: Box; tree: Tree; boxes: Box[]; isFolded: boolean; names: string[]; open: (box: Box) => void; fold: (box: Box) => void; show: (box: Box) => void;
  onSearch?: (moves: string[]) => void;
}) {
  const { node } = box;
  const below = boxes.filter((one) => one.node.parent === box.index).sort((a, b) => b.node.visits - a.node.visits);
  const marks = [node.terminal && "end of the game", node.proven && "proven", node.folded && "folded by the search", node.player === "chance" && "chance", node.player === "simultaneous" && "simultaneous moves"].filter(Boolean);
  const flips = isZeroSum(tree);
  const who = boxes.find((one) => one.index === node.parent)?.node.player ?? null;
  const varies = tree.nodes.some((one) => one.deviation !== null);
  const random = boxes.some((one) => one.node.player === "chance" || one.node.player === "simultaneous");
  return (
    <aside class="details" aria-label="Node">
      <p class="path" role="status">{[...tree.moves, ...names].join(" ") || "root"}</p>
      <dl>
        <dt>visits</dt><dd>{node.visits.toLocaleString("en")}</dd>
        {box.rate !== null && <><dt>for {playerName(flips ? tree.nodes[0]!.player : who)}</dt><dd>{percent(box.rate)}</dd></>}
        {who !== null && <><dt title="From the view of the player who chose the move">Q, for {playerName(who)}</dt><dd>{number(node.value)}</dd></>}
        {varies && who !== null && <><dt>standard error</dt><dd>{node.deviation === null ? "–" : number(node.deviation / Math.sqrt(Math.max(1, node.visits)))}</dd></>}
        {who !== null && <><dt>prior</dt><dd>{percent(node.prior)}</dd></>}
        <dt>to move</dt><dd>{node.player === null ? "–" : playerName(node.player)}</dd>
        {marks.length > 0 && <><dt>marks</dt><dd>{marks.map((mark) => <span key={String(mark)} class="badge">{mark}</span>)}</dd></>}
      </dl>
      <div class="buttons">
        <button onClick={() => open(box)} disabled={!box.path.length}>Open</button>
        <button onClick={() => fold(box)} disabled={!below.length && !isFolded} aria-pressed={isFolded}>{isFolded ? "Unfold" : "Fold"}</button>
        {onSearch && <button class="primary" onClick={() => onSearch([...tree.moves, ...names])} disabled={node.terminal || random} title={random ? "not below chance or simultaneous moves" : "Go to this position, and search on"}>Search from here</button>}
      </div>
      <table class="moves">
        <thead><tr><th scope="col">child</th><th scope="col">visits</th><th scope="col">value</th></tr></thead>
        <tbody>
          {below.slice(0, 8).map((one) => <tr key={one.index}><th scope="row"><button class="quiet" onClick={() => show(one)}>{one.node.move}</button></th><td>{one.node.visits.toLocaleString("en")}</td><td>{number(one.node.value)}</td></tr>)}
          {below.length === 0 && <tr><td colSpan={3} class="empty">{isFolded ? "folded" : node.children ? "open the node to see them" : "none"}</td></tr>}
        </tbody>
      </table>
    </aside>
  );
}
