import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { fitting, HEIGHT, hidden, type Item } from "./layout";
import { choose, chosen, describe, fold, items, keysOfDrawing, open, SIGNS, size } from "./walking";

interface Window { x: number; y: number; scale: number }
interface Area { width: number; height: number }
const PAD = 18;
const READABLE = 0.85; // the scale at which text can still be read with ease
const SMALLEST = 0.04;
const LARGEST = 3;
/** Where the drawing is seen from; null: as much of it as can be read. */
const own = signal<Window | null>(null);
const area = signal<Area>({ width: 800, height: 480 });

/** Enlarge the drawing around a point. */
function zoom(factor: number, x = area.value.width / 2, y = area.value.height / 2): void {
  const seen = own.value ?? whole(area.value);
  const scale = Math.min(LARGEST, Math.max(SMALLEST, seen.scale * factor));
  const by = scale / seen.scale;
  own.value = { x: x - (x - seen.x) * by, y: y - (y - seen.y) * by, scale };
}

export const fitDrawing = () => void (own.value = null);

export function ZoomButtons() {
  return (
    <div class="zoom" role="group" aria-label="What the drawing shows">
      <button onClick={() => zoom(1 / 1.3)} aria-label="Smaller">−</button>
      <button onClick={() => zoom(1.3)} aria-label="Larger">+</button>
      <button onClick={fitDrawing} disabled={!own.value}>Top</button>
      <button onClick={() => (own.value = whole(area.value, SMALLEST))}>Whole</button>
    </div>
  );
}

/** The graph from top to bottom: goals as boxes, tactics as pills. It can be moved, zoomed and walked. */
export function Drawing() {
  const frame = useRef<HTMLDivElement>(null);
  const place = useRef<SVGSVGElement>(null);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const moved = useRef(false);
  useEffect(() => {
    const measure = () => (area.value = { width: place.current!.clientWidth, height: place.current!.clientHeight });
    const watch = new ResizeObserver(measure);
    measure();
    watch.observe(place.current!);
    return () => watch.disconnect();
  }, []);
  const all = items.value;
  const seen = own.value ?? whole(area.value);
  const here = chosen.value;
  useEffect(() => {
    if (!here || document.activeElement !== frame.current) return;
    const next = showing(seen, here, area.value);
    if (next.x !== seen.x || next.y !== seen.y) own.value = next;
  }, [here?.key]);
  const point = (event: PointerEvent | WheelEvent) => {
    const box = place.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const move = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = point(event);
    if (!moved.current && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    if (!moved.current) place.current!.setPointerCapture(event.pointerId);
    moved.current = true;
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, now);
    if (!other) own.value = { ...seen, x: seen.x + now.x - before.x, y: seen.y + now.y - before.y };
    else zoom(Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y)), other.x, other.y);
  };
  const end = (event: PointerEvent) => pointers.current.delete(event.pointerId);
  return (
    <div ref={frame} class="drawing" tabIndex={0} role="application" aria-roledescription="drawing of a graph" aria-describedby="proof-keys"
      aria-label="The goals and tactics of the search" onKeyDown={keysOfDrawing}>
      <svg ref={place}
        onWheel={(event) => { event.preventDefault(); const at = point(event); zoom(Math.exp(-event.deltaY / 400), at.x, at.y); }}
        onPointerDown={(event) => { moved.current = false; pointers.current.set(event.pointerId, point(event)); }}
        onPointerMove={move} onPointerUp={end} onPointerCancel={end} onPointerLeave={end}>
        <g transform={`translate(${seen.x} ${seen.y}) scale(${seen.scale})`}>
          <g class="edges" aria-hidden="true">{all.map((item) => item.parent && <Edge key={item.key} item={item} />)}</g>
          {all.map((item) => (
            <Box key={item.key} item={item} on={item === here} pick={() => { if (!moved.current) choose(item); }} />
          ))}
        </g>
      </svg>
      <p class="hidden" role="status">{here ? describe(here.node) : ""}</p>
    </div>
  );
}

/** Show the whole drawing if its scale is at least the given one, or else its root at the top. */
function whole(area: Area, least = READABLE): Window {
  const { width, height } = size.value;
  const fit = Math.min((area.width - 2 * PAD) / width, (area.height - 2 * PAD) / height);
  const scale = Math.min(1, Math.max(least, fit));
  const free = area.width - width * scale;
  const x = free >= 2 * PAD ? free / 2 : Math.min(PAD, Math.max(free - PAD, area.width / 2 - (items.value[0]?.x ?? 0) * scale));
  const y = fit >= least ? Math.min(60, (area.height - height * scale) / 2) : PAD;
  return { x, y, scale };
}

/** Move as little as is needed to show an item. */
function showing(seen: Window, item: Item, area: Area): Window {
  const inside = (from: number, length: number, most: number, shift: number) =>
    from + shift < PAD ? PAD - from : from + length + shift > most - PAD ? most - PAD - length - from : shift;
  return {
    scale: seen.scale,
    x: inside((item.x - item.width / 2) * seen.scale, item.width * seen.scale, area.width, seen.x),
    y: inside(item.y * seen.scale, HEIGHT * seen.scale, area.height, seen.y),
  };
}

/** From a goal to a tactic: a curve, one of several ways. From a tactic to its goals: a bracket, all of them. */
function Edge({ item }: { item: Item }) {
  const from = item.parent!;
  const [x, y, endX, endY] = [from.x, from.y + HEIGHT, item.x, item.y];
  const turn = Math.min(6, Math.abs(endX - x));
  const side = turn * Math.sign(endX - x);
  const middle = (y + endY) / 2;
  const path = from.node.kind === "goal"
    ? `M${x} ${y}C${x} ${endY} ${endX} ${y} ${endX} ${endY}`
    : `M${x} ${y}V${middle - turn}q0 ${turn} ${side} ${turn}H${endX - side}q${side} 0 ${side} ${turn}V${endY}`;
  return <path class={item.node.proof && from.node.proof ? "proof" : item.node.status} d={path} />;
}

function Box({ item, on, pick }: { item: Item; on: boolean; pick: () => void }) {
  const { node } = item;
  const reference = node.kind === "goal" && node.again !== null;
  const names = ["node", node.kind, node.status, node.proof && "proof", on && "on", reference && "reference", node.kind === "tactic" && node.failed && "failed"];
  const more = hidden(item);
  return (
    <g class={names.filter(Boolean).join(" ")} transform={`translate(${item.x - item.width / 2} ${item.y})`} onClick={pick}
      onDblClick={() => (item.children.length ? fold(item) : open(item))}>
      <title>{describe(node)}</title>
      <rect width={item.width} height={HEIGHT} rx={node.kind === "tactic" ? HEIGHT / 2 : 4} />
      <text class="sign" x={14} y={HEIGHT / 2 + 0.5}>{SIGNS[node.status]}</text>
      <text class="text" x={26} y={HEIGHT / 2 + 0.5}>{fitting(item)}</text>
      {more && <text class="more" x={item.width + 4} y={HEIGHT / 2 + 0.5}>{more}</text>}
    </g>
  );
}
