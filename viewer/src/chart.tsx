import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Series { name: string; colour: string; values: (number | null)[]; fill?: boolean; dots?: boolean }

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

/** A line chart that follows the width of its place. `onPick` gets the index of a point that is clicked. */
export function Chart({ x, series, range, height = 160, xName = "", logarithmic = false, whole = false, onPick, marker }: {
  x: number[]; series: Series[]; range?: [number, number]; height?: number; xName?: string; logarithmic?: boolean; whole?: boolean;
  onPick?: (index: number) => void; marker?: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const marked = useRef(marker);
  marked.current = marker;
  const colours = useColours();
  const names = series.map((one) => one.name).join("\n");
  useEffect(() => {
    const style = getComputedStyle(place.current!);
    const axis = { stroke: style.getPropertyValue("--mute"), grid: { stroke: style.getPropertyValue("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    const made = new uPlot({
      width: place.current!.clientWidth || 300, height, legend: { show: false }, cursor: { points: { size: 6 }, drag: { x: false, y: false } },
      scales: { x: { time: false, distr: logarithmic ? 3 : 1 }, y: range ? { range } : {} },
      axes: [{ ...axis, label: xName || undefined, labelSize: 18, labelFont: "11px system-ui", size: 28, ...(whole ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] } : {}) }, { ...axis, size: 42 }],
      series: [{}, ...series.map((one) => ({ label: one.name, stroke: one.colour, width: one.dots ? 0 : 1.8, fill: one.fill ? `${one.colour}22` : undefined, points: { show: Boolean(one.dots), size: 9, fill: one.colour } }))],
      hooks: {
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
    }, [x, ...series.map((one) => one.values)] as uPlot.AlignedData, place.current!);
    plot.current = made;
    const pick = () => { if (onPick && made.cursor.idx != null) onPick(made.cursor.idx); };
    made.over.addEventListener("click", pick);
    const watch = new ResizeObserver(() => made.setSize({ width: place.current!.clientWidth, height }));
    watch.observe(place.current!);
    return () => { watch.disconnect(); made.destroy(); plot.current = null; };
  }, [names, height, logarithmic, colours]);
  useEffect(() => plot.current?.setData([x, ...series.map((one) => one.values)] as uPlot.AlignedData), [x, series]);
  useEffect(() => plot.current?.redraw(false), [marker]);
  return <div class="chart" ref={place} role="img" aria-label={`Chart: ${series.map((one) => one.name).join(", ")}`} />;
}

export const COLOURS = ["#2f7d5b", "#c2612c", "#3b6fb5", "#8a5aa8", "#a08a1f", "#b0446a", "#4a8f96", "#7a6a58"];
