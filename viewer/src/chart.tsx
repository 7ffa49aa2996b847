import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

type Values = (number | null)[];
/** A line, with the band of its intervals between `low` and `high` if it has them. */
export interface Series { name: string; colour: string; values: Values; fill?: boolean; dots?: boolean; low?: Values; high?: Values }
/** A dashed horizontal line with a name. */
export interface Level { name: string; value: number }

/** A number that changes with the colours of the page: by the system's setting, or by the page's own. */
export function useColours(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const change = () => setCount((old) => old + 1);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", change);
    const watch = new MutationObserver(change);
    watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => { scheme.removeEventListener("change", change); watch.disconnect(); };
  }, []);
  return count;
}

/**
 * A line chart that follows the width of its place. `onPick` gets the index of a point that is clicked, `onHover` that
 * of the point under the pointer.
 */
export function Chart({ x, series, range, height = 160, xName = "", logarithmic = false, whole = false, percent = false, onPick, onHover, marker, levels = [], label }: {
  x: number[]; series: Series[]; range?: [number, number]; height?: number; xName?: string; logarithmic?: boolean; whole?: boolean; percent?: boolean;
  onPick?: (index: number) => void; onHover?: (index: number | null) => void; marker?: number; levels?: Level[]; label?: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const marked = useRef(marker);
  marked.current = marker;
  const lines = useRef(levels);
  lines.current = levels;
  const hovered = useRef(onHover);
  hovered.current = onHover;
  const names = series.map((one) => `${one.name} ${one.low ? "band" : ""}`).join("\n");
  const colours = useColours();
  useEffect(() => {
    const style = getComputedStyle(place.current!);
    const axis = { stroke: style.getPropertyValue("--mute"), grid: { stroke: style.getPropertyValue("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    const made = new uPlot({
      width: place.current!.clientWidth || 300, height, legend: { show: false }, cursor: { points: { size: 6 }, drag: { x: false, y: false } },
      scales: { x: { time: false, distr: logarithmic ? 3 : 1 }, y: range ? { range } : levels.length ? { range: (_, low, high) => around(lines.current, low, high) } : {} },
      axes: [{ ...axis, label: xName || undefined, labelSize: 18, labelFont: "11px system-ui", size: 28, ...(whole || logarithmic ? {} : { values: (_: uPlot, values: number[]) => values.map(compact) }), ...(whole ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] } : {}) }, { ...axis, size: 42, ...(percent ? { values: (_: uPlot, values: number[]) => values.map((value) => `${Math.round(100 * value)}%`) } : {}) }],
      series: [{}, ...series.flatMap((one) => [
        { label: one.name, stroke: one.colour, width: one.dots ? 0 : 1.8, fill: one.fill ? `${one.colour}22` : undefined, points: { show: one.dots || one.values.length < 16, size: one.dots ? 9 : 5, fill: one.colour } },
        ...(one.low ? [{ label: `${one.name}, high`, width: 0, points: { show: false } }, { label: `${one.name}, low`, width: 0, points: { show: false } }] : []),
      ])],
      bands: bands(series),
      hooks: {
        drawAxes: [(drawn) => drawLevels(drawn, lines.current, style.getPropertyValue("--mute"), style.getPropertyValue("--panel"))],
        setCursor: [(drawn) => hovered.current?.(drawn.cursor.idx ?? null)],
        draw: [(drawn) => {
          if (marked.current === undefined) return;
          const at = drawn.valToPos(marked.current, "x", true);
          drawn.ctx.strokeStyle = style.getPropertyValue("--accent");
          drawn.ctx.lineWidth = 1.5;
          drawn.ctx.beginPath();
          drawn.ctx.moveTo(at, drawn.bbox.top);
          drawn.ctx.lineTo(at, drawn.bbox.top + drawn.bbox.height);
          drawn.ctx.stroke();
        }],
      },
    }, columns(x, series), place.current!);
    plot.current = made;
    const pick = () => { if (onPick && made.cursor.idx != null) onPick(made.cursor.idx); };
    made.over.addEventListener("click", pick);
    const watch = new ResizeObserver(() => made.setSize({ width: place.current!.clientWidth, height }));
    watch.observe(place.current!);
    return () => { watch.disconnect(); made.destroy(); plot.current = null; };
  }, [names, height, logarithmic, colours]);
  useEffect(() => plot.current?.setData(columns(x, series)), [x, series]);
  useEffect(() => plot.current?.redraw(false), [marker]);  // the scales may not be known yet
  return <div class="chart" ref={place} role="img" aria-label={label ?? `Chart: ${series.map((one) => one.name).join(", ")}`} />;
}

/** A number on an axis: 5M for five million. */
const compact = (value: number) => (Math.abs(value) < 10_000 ? value.toLocaleString("en") : new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value));

/** The columns of the plot: a line with intervals has two more. */
function columns(x: number[], series: Series[]): uPlot.AlignedData {
  return [x, ...series.flatMap((one) => (one.low && one.high ? [one.values, one.high, one.low] : [one.values]))] as uPlot.AlignedData;
}

function bands(series: Series[]): uPlot.Band[] {
  const found: uPlot.Band[] = [];
  let place = 1;
  for (const one of series) {
    if (one.low) found.push({ series: [place + 1, place + 2], fill: `${one.colour}2b` });
    place += one.low ? 3 : 1;
  }
  return found;
}

/** The range of an axis that shows its values and its levels. */
function around(levels: Level[], low: number, high: number): [number, number] {
  const values = levels.map((level) => level.value);
  const least = Math.min(low, ...values);
  const most = Math.max(high, ...values);
  const gap = 0.06 * (most - least || 1);
  return [least - gap, most + gap];
}

/** Draw dashed lines, with their names at the right; a name that would cover another one is left out. */
function drawLevels(drawn: uPlot, levels: Level[], colour: string, paper: string): void {
  const { ctx, bbox } = drawn;
  let last = Infinity;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.font = `${10 * devicePixelRatio}px system-ui`;
  ctx.textAlign = "right";
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const level of [...levels].sort((a, b) => a.value - b.value)) {
    const y = drawn.valToPos(level.value, "y", true);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    if (last - y > 12 * devicePixelRatio) {
      const place = [level.name, bbox.left + bbox.width - 4, y - 4 * devicePixelRatio] as const;
      ctx.save();
      ctx.setLineDash([]);
      ctx.lineJoin = "round";
      ctx.lineWidth = 3 * devicePixelRatio;
      ctx.strokeStyle = paper;
      ctx.strokeText(...place);
      ctx.restore();
      ctx.fillText(...place);
      last = y;
    }
  }
  ctx.restore();
}

export const COLOURS = ["#2f7d5b", "#c2612c", "#3b6fb5", "#8a5aa8", "#a08a1f", "#b0446a", "#4a8f96", "#7a6a58"];
