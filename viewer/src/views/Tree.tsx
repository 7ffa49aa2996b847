import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, type Tree, type TreeNode } from "../api";
import { valueColour } from "../board/Grid";
import { analysis, attempt, playerName, session, still, think } from "../state";

const ROW = 34;
const MOST = 1500;
type Shade = "value" | "visits" | "prior";

interface Box { node: TreeNode; index: number; x: number; width: number; depth: number; path: number[] }

/** The tree as rows of boxes: as wide as their share of the visits, a row for each move. The server sends what can be seen. */
export function TreeView() {
  const shown = session.value!;
  const [tree, setTree] = useState<Tree | null>(null);
  const [path, setPath] = useState<number[]>([]);
  const [shade, setShade] = useState<Shade>("value");
  const [chosen, setChosen] = useState<Box | null>(null);
  const [zoom, setZoom] = useState({ left: 0, scale: 1 });
  const canvas = useRef<HTMLCanvasElement>(null);
  const boxes = useRef<Box[]>([]);
  boxes.current = useMemo(() => (tree ? layout(tree) : []), [tree]);
  const load = (to: number[]) => void attempt(async () => {
    const found = await api.tree(shown.session, to, MOST);
    setTree(found);
    setPath(to);
    setChosen(null);
    setZoom({ left: 0, scale: 1 });
  });
  const searched = analysis.value?.simulations ?? 0;
  useEffect(() => { if (searched && !shown.thinking) load([]); }, [shown.session, shown.ply, shown.thinking, searched]);

  useEffect(() => {
    const place = canvas.current;
    if (!place || !tree) return;
    const draw = () => paint(place, boxes.current, zoom, shade, chosen);
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(place);
    return () => watch.disconnect();
  }, [tree, zoom, shade, chosen]);

  const find = (event: MouseEvent): Box | null => {
    const area = canvas.current!.getBoundingClientRect();
    const x = (event.clientX - area.left) / area.width / zoom.scale + zoom.left;
    const depth = Math.floor((event.clientY - area.top) / ROW);
    return boxes.current.find((box) => box.depth === depth && x >= box.x && x < box.x + box.width) ?? null;
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const area = canvas.current!.getBoundingClientRect();
    const at = (event.clientX - area.left) / area.width;
    setZoom((old) => {
      const scale = Math.min(500, Math.max(1, old.scale * Math.exp(-event.deltaY / 400)));
      const left = Math.min(1 - 1 / scale, Math.max(0, old.left + at / old.scale - at / scale));
      return { left, scale };
    });
  };
  const drag = useRef<number | null>(null);
  const keys = (event: KeyboardEvent) => {
    const all = boxes.current;
    const here = chosen ?? all[0];
    if (!here) return;
    const below = all.filter((box) => box.node.parent === here.index).sort((a, b) => b.node.visits - a.node.visits);
    const beside = all.filter((box) => box.node.parent === here.node.parent && box.depth === here.depth).sort((a, b) => a.x - b.x);
    const at = beside.findIndex((box) => box.index === here.index);
    const to = { ArrowDown: below[0], ArrowUp: all[here.node.parent], ArrowLeft: beside[at - 1], ArrowRight: beside[at + 1] }[event.key];
    if (to) setChosen(to);
    else if (event.key === "Enter") load([...path, ...here.path]);
    else if (event.key === "Backspace" && path.length) load(path.slice(0, -1));
    else return;
    event.preventDefault();
  };
  if (!tree) return <p class="note">{searched ? "Loading…" : <>There is no tree yet. <button onClick={() => void think({ visits: 100_000, seconds: 20 })} disabled={shown.thinking}>Search 100,000 simulations</button></>}</p>;
  const deepest = Math.max(1, ...boxes.current.map((box) => box.depth + 1));
  return (
    <div class="treeview">
      <div class="buttons">
        <nav class="crumbs" aria-label="Path">
          <button class="quiet" onClick={() => load([])}>root</button>
          {tree.moves.map((move, place) => <button key={place} class="quiet" onClick={() => load(path.slice(0, place + 1))}>{move}</button>)}
        </nav>
        <label>Colour
          <select value={shade} onChange={(event) => setShade(event.currentTarget.value as Shade)}>
            <option value="value">by value</option><option value="visits">by visits</option><option value="prior">by prior</option>
          </select>
        </label>
        <button onClick={() => setZoom({ left: 0, scale: 1 })} disabled={zoom.scale === 1}>Whole width</button>
        {!still.value && <button onClick={() => void think({ visits: searched + 100_000, seconds: 30 })} disabled={shown.thinking}>{shown.thinking ? "Searching…" : "Search on"}</button>}
        <span class="note">{tree.nodes.length.toLocaleString("en")} of {tree.size.toLocaleString("en")} nodes, the most visited first</span>
      </div>
      <canvas ref={canvas} style={{ height: `${Math.min(24, deepest) * ROW}px` }} tabIndex={0} role="application"
        aria-label="The tree. Arrow keys walk, Enter opens a node, Backspace goes back." onKeyDown={keys} onWheel={wheel}
        onMouseDown={(event) => (drag.current = event.clientX)} onMouseUp={() => (drag.current = null)} onMouseLeave={() => (drag.current = null)}
        onMouseMove={(event) => {
          if (drag.current !== null && event.buttons === 1 && zoom.scale > 1) {
            const moved = (event.clientX - drag.current) / canvas.current!.clientWidth / zoom.scale;
            drag.current = event.clientX;
            setZoom((old) => ({ ...old, left: Math.min(1 - 1 / old.scale, Math.max(0, old.left - moved)) }));
          }
        }}
        onClick={(event) => { const box = find(event); if (box) setChosen(box); }}
        onDblClick={(event) => { const box = find(event); if (box) load([...path, ...box.path]); }} />
      <p class="hidden" role="status">{chosen ? describe(chosen) : ""}</p>
      {chosen ? <Details box={chosen} open={() => load([...path, ...chosen.path])} /> : <p class="note">Width is the share of the visits. Click a box for its numbers; double click, or Enter, opens it. The wheel zooms.</p>}
    </div>
  );
}

const describe = (box: Box) => `${box.node.move || "root"}: ${box.node.visits} visits, value ${box.node.value?.toFixed(2) ?? "unknown"}`;

function Details({ box, open }: { box: Box; open: () => void }) {
  const { node } = box;
  const marks = [node.terminal && "end of the game", node.proven && "proven", node.folded && "folded", node.player === "chance" && "chance", node.player === "simultaneous" && "simultaneous moves"].filter(Boolean);
  return (
    <dl class="facts">
      <div><dt>move</dt><dd>{node.move || "root"}</dd></div>
      <div><dt>visits</dt><dd>{node.visits.toLocaleString("en")}</dd></div>
      <div><dt>value for who chose it</dt><dd>{node.value === null ? "–" : node.value.toFixed(4)}</dd></div>
      <div><dt>prior</dt><dd>{(100 * node.prior).toFixed(1)}%</dd></div>
      <div><dt>to move</dt><dd>{typeof node.player === "number" ? playerName(node.player) : (node.player ?? "–")}</dd></div>
      <div><dt>children</dt><dd>{node.children}</dd></div>
      {marks.length > 0 && <div><dt>marks</dt><dd>{marks.map((mark) => <span key={String(mark)} class="badge">{mark}</span>)}</dd></div>}
      <div><dd><button onClick={open}>Open this node</button></dd></div>
    </dl>
  );
}

function layout(tree: Tree): Box[] {
  const found: Box[] = [];
  const used: number[] = [];
  tree.nodes.forEach((node, index) => {
    const parent = found[node.parent];
    if (!parent) {
      found.push({ node, index, x: 0, width: 1, depth: 0, path: [] });
      used.push(0);
      return;
    }
    const width = (parent.width * node.visits) / Math.max(1, parent.node.visits);
    found.push({ node, index, x: parent.x + used[node.parent]!, width, depth: parent.depth + 1, path: [...parent.path, node.action] });
    used[node.parent]! += width;
    used.push(0);
  });
  return found;
}

function paint(canvas: HTMLCanvasElement, boxes: Box[], zoom: { left: number; scale: number }, shade: Shade, chosen: Box | null): void {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(canvas);
  context.scale(ratio, ratio);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  const total = boxes[0]?.node.visits ?? 1;
  for (const box of boxes) {
    const x = (box.x - zoom.left) * zoom.scale * width;
    const w = box.width * zoom.scale * width;
    if (x > width || x + w < 0 || w < 0.7) continue;
    const { node } = box;
    const y = box.depth * ROW;
    context.fillStyle = shade === "value" ? valueColour(node.value === null ? null : (node.value + 1) / 2).replace("var(--mute)", style.getPropertyValue("--mute"))
      : `hsl(160 35% ${82 - 50 * (shade === "visits" ? Math.sqrt(node.visits / total) : Math.sqrt(node.prior))}%)`;
    context.fillRect(x + 0.5, y + 0.5, Math.max(0.5, w - 1), ROW - 2);
    if (node.player === "chance" || node.player === "simultaneous") {
      context.fillStyle = "#ffffff55";
      for (let at = Math.max(0, x); at < Math.min(width, x + w); at += 6) context.fillRect(at, y + 1, 2, ROW - 3);
    }
    if (node.proven || node.terminal) {
      context.fillStyle = node.proven ? "#ffd75e" : "#ffffffaa";
      context.fillRect(x + 1, y + 1, Math.max(1, w - 2), 3);
    }
    if (w > 26) {
      context.fillStyle = shade === "value" ? "#fff" : style.getPropertyValue("--ink");
      context.save();
      context.beginPath();
      context.rect(Math.max(0, x) + 4, y, w - 8, ROW);
      context.clip();
      const text = node.move || "root";
      context.fillText(w > 90 ? `${text}  ${node.visits.toLocaleString("en")}` : text, Math.max(0, x) + 5, y + ROW / 2);
      context.restore();
    }
    if (chosen && chosen.index === box.index) {
      context.strokeStyle = style.getPropertyValue("--ink");
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(1, w - 2), ROW - 3);
    }
  }
}
