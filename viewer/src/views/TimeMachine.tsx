import { useEffect, useRef, useState } from "preact/hooks";
import { api, type Recording } from "../api";
import { Chart, COLOURS } from "../chart";
import { attempt, isOver, preview, session } from "../state";
import { Legend } from "./Analyse";
import { Phases } from "./Phases";

const RULES = [["uct", "UCB1, c = √2"], ["uct(c=1.0)", "UCB1, c = 1"], ["puct(evaluator='heuristic(prior_temperature=1)')", "PUCT with a heuristic"]];

/** A recorded search, forwards and backwards: the first simulations phase by phase, then the root at growing intervals. */
export function TimeMachine() {
  const shown = session.value!;
  const [rule, setRule] = useState("uct");
  const [found, setFound] = useState<Recording | null>(null);
  const [at, setAt] = useState(0);
  const [phase, setPhase] = useState(0);
  const [running, setRunning] = useState(false);
  const [stops, setStops] = useState(true);
  const [busy, setBusy] = useState(false);
  useEffect(() => { setFound(null); setAt(0); setRunning(false); }, [shown.session, shown.ply]);
  const record = () => void attempt(async () => {
    setBusy(true);
    try {
      setFound(await api.record(shown.session, { rule, visits: 5000, detailed: 120 }));
      setAt(0);
      setPhase(0);
    } finally { setBusy(false); }
  });
  const last = (found?.snapshots.length ?? 1) - 1;
  const changes = found?.changes ?? [];
  const step = (by: number) => {
    if (!found) return;
    if (by > 0 && at < found.simulations.length && phase < 3) return setPhase(phase + 1);
    if (by < 0 && at < found.simulations.length && phase > 0) return setPhase(phase - 1);
    const next = Math.min(last, Math.max(0, at + by));
    setAt(next);
    setPhase(by < 0 && next < found.simulations.length ? 3 : 0);
    if (next === last || (running && stops && changes.includes(next))) setRunning(false);
  };
  const jump = (to: number) => { setAt(Math.min(last, Math.max(0, to))); setPhase(0); };
  const next = changes.find((change) => change > at);
  const before = changes.filter((change) => change < at).pop();
  const keys = useRef<(event: KeyboardEvent) => void>(() => undefined);
  keys.current = (event) => {
    const target = event.target as HTMLElement;
    if (!found || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, .grid, [role=application]")) return;
    if (event.key === "ArrowRight") step(1);
    else if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "Home") jump(0);
    else if (event.key === "End") jump(last);
    else if (event.key === "." && next !== undefined) jump(next);
    else if (event.key === "," && before !== undefined) jump(before);
    else if (event.key === " " && !target.closest("button, summary, a")) setRunning(!running);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => keys.current(event);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
  useEffect(() => {
    if (!running || !found) return;
    const timer = setInterval(() => step(1), matchMedia("(prefers-reduced-motion: reduce)").matches ? 1500 : at < found.simulations.length ? 900 : 80);
    return () => clearInterval(timer);
  });
  const simulation = found?.simulations[at];
  const line = simulation?.path.join(" ");
  useEffect(() => { preview.value = simulation ? simulation.path : []; return () => { preview.value = []; }; }, [line]);
  if (!found)
    return (
      <>
        <p class="note">Record a search of this position, and step through it: the first simulations one by one, with the numbers of the formula.</p>
        <div class="controls">
          <label>Rule<select value={rule} onChange={(event) => setRule(event.currentTarget.value)}>{RULES.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
        </div>
        <div class="buttons"><button class="primary" onClick={record} disabled={isOver.value || busy}>{busy ? "Recording…" : "Record 5,000 simulations"}</button></div>
      </>
    );
  const snapshot = found.snapshots[at]!;
  const changed = changes.includes(at) ? `changed here, from ${found.snapshots[at - 1]!.move}` : "";
  const names = [...found.snapshots[last]!.moves].sort((a, b) => b[1] - a[1]).slice(0, 5).map((move) => move[0]);
  return (
    <>
      <div class="buttons">
        <button onClick={() => jump(0)} disabled={at === 0} aria-label="To the start" title="Home">«</button>
        <button onClick={() => before !== undefined && jump(before)} disabled={before === undefined} aria-label="Previous change of the best move" title="Previous change: ,">◂ change</button>
        <button onClick={() => step(-1)} disabled={at === 0 && phase === 0} aria-label="Back" title="Left arrow">◀</button>
        <button class="primary steady" onClick={() => setRunning(!running)} disabled={at === last} title="Space">{running ? "Pause" : "Play"}</button>
        <button onClick={() => step(1)} disabled={at === last} aria-label="Forward" title="Right arrow">▶</button>
        <button onClick={() => next !== undefined && jump(next)} disabled={next === undefined} aria-label="Next change of the best move" title="Next change: .">change ▸</button>
        <button onClick={() => jump(last)} disabled={at === last} aria-label="To the end" title="End">»</button>
        <label class="check"><input type="checkbox" checked={stops} onChange={(event) => setStops(event.currentTarget.checked)} />Stop at changes</label>
        <button class="quiet" onClick={() => setFound(null)}>Record again</button>
      </div>
      <div class="scrubber">
        <input type="range" min={0} max={last} value={at} onInput={(event) => jump(Number(event.currentTarget.value))} aria-label="Simulation" aria-valuetext={`${snapshot.visits} simulations, best move ${snapshot.move}`} />
        <div aria-hidden="true">{changes.map((change) => <i key={change} class={change === at ? "now" : ""} style={{ left: `calc(8px + (100% - 16px) * ${(change / Math.max(1, last)).toFixed(5)})` }} />)}</div>
      </div>
      <p class="verdict"><b>{snapshot.visits.toLocaleString("en")}</b> {snapshot.visits === 1 ? "simulation" : "simulations"}; best so far <b>{snapshot.move}</b> <span class="badge inaccuracy">{changed}</span></p>
      <h3>Share of visits <Legend names={names} /></h3>
      <Chart x={found.snapshots.map((one) => one.visits)} xName="simulations" logarithmic percent range={[0, 1]} height={130} marker={snapshot.visits} onPick={jump}
        series={names.map((name, place) => ({ name, colour: COLOURS[place]!, values: found.snapshots.map((one) => share(one.moves, name)) }))} />
      {simulation ? <Phases simulation={simulation} phase={phase} pick={setPhase} /> : <p class="note">From here on the root is shown at growing intervals.</p>}
    </>
  );
}

function share(moves: [string, number, number | null][], name: string): number {
  const total = moves.reduce((sum, move) => sum + move[1], 0);
  return total ? (moves.find((move) => move[0] === name)?.[1] ?? 0) / total : 0;
}
