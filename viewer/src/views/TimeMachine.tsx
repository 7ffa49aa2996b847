import { useEffect, useState } from "preact/hooks";
import { api, type Recording, type Simulation } from "../api";
import { Chart, COLOURS } from "../chart";
import { attempt, isOver, preview, session } from "../state";
import { Legend } from "./Analyse";

const PHASES = ["Selection", "Expansion", "Evaluation", "Backup"];
const RULES = [["uct(c=1.0)", "UCB1, c = 1"], ["uct", "UCB1, c = √2"], ["puct(evaluator='heuristic')", "PUCT with a heuristic"]];

export function TimeMachine() {
  const shown = session.value!;
  const [rule, setRule] = useState("uct");
  const [found, setFound] = useState<Recording | null>(null);
  const [at, setAt] = useState(0);
  const [phase, setPhase] = useState(0);
  const [running, setRunning] = useState(false);
  useEffect(() => { setFound(null); setAt(0); setRunning(false); }, [shown.session, shown.ply]);
  useEffect(() => {
    if (!running || !found) return;
    const timer = setInterval(() => step(1), matchMedia("(prefers-reduced-motion: reduce)").matches ? 1500 : at < found.simulations.length ? 700 : 60);
    return () => clearInterval(timer);
  });
  const record = () => void attempt(async () => { setFound(await api.record(shown.session, { rule, visits: 5000, detailed: 120 })); setAt(0); setPhase(0); });
  const last = (found?.snapshots.length ?? 1) - 1;
  const step = (by: number) => {
    if (!found) return;
    if (by > 0 && at < found.simulations.length && phase < 3) return setPhase(phase + 1);
    if (by < 0 && at < found.simulations.length && phase > 0) return setPhase(phase - 1);
    const next = Math.min(last, Math.max(0, at + by));
    setAt(next);
    setPhase(by < 0 && next < found.simulations.length ? 3 : 0);
    if (next === last) setRunning(false);
  };
  const jump = (to: number) => { setAt(Math.min(last, Math.max(0, to))); setPhase(0); };
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
        <div class="buttons"><button class="primary" onClick={record} disabled={isOver.value}>Record 5,000 simulations</button></div>
      </>
    );
  const snapshot = found.snapshots[at]!;
  const names = [...found.snapshots[last]!.moves].sort((a, b) => b[1] - a[1]).slice(0, 5).map((move) => move[0]);
  return (
    <>
      <div class="buttons">
        <button onClick={() => jump(0)} disabled={at === 0} aria-label="To the start">«</button>
        <button onClick={() => step(-1)} disabled={at === 0 && phase === 0} aria-label="Back">◀</button>
        <button class="primary" onClick={() => setRunning(!running)}>{running ? "Pause" : "Play"}</button>
        <button onClick={() => step(1)} disabled={at === last} aria-label="Forward">▶</button>
        <button onClick={() => jump(last)} disabled={at === last} aria-label="To the end">»</button>
        <button class="quiet" onClick={() => setFound(null)}>Record again</button>
      </div>
      <input type="range" min={0} max={last} value={at} onInput={(event) => jump(Number(event.currentTarget.value))} aria-label="Simulation" aria-valuetext={`${snapshot.visits} simulations`} />
      <p class="verdict"><b>{snapshot.visits.toLocaleString("en")}</b> {snapshot.visits === 1 ? "simulation" : "simulations"}; best so far <b>{snapshot.move}</b></p>
      {found.changes.length > 0 && (
        <p class="changes">The best move changed at {found.changes.slice(0, 10).map((change) => <button key={change} class="quiet" onClick={() => jump(change)}>{found.snapshots[change]!.visits}</button>)}</p>
      )}
      {simulation ? <Phases simulation={simulation} phase={phase} pick={setPhase} /> : <p class="note">From here on the root is shown at growing intervals.</p>}
      <h3>Share of visits <Legend names={names} /></h3>
      <Chart x={found.snapshots.map((one) => one.visits)} xName="simulations" logarithmic range={[0, 1]} height={140} marker={snapshot.visits} onPick={jump}
        series={names.map((name, place) => ({ name, colour: COLOURS[place]!, values: found.snapshots.map((one) => share(one.moves, name)) }))} />
    </>
  );
}

function share(moves: [string, number, number | null][], name: string): number {
  const total = moves.reduce((sum, move) => sum + move[1], 0);
  return total ? (moves.find((move) => move[0] === name)?.[1] ?? 0) / total : 0;
}

function Phases({ simulation, phase, pick }: { simulation: Simulation; phase: number; pick: (phase: number) => void }) {
  const number = (value: number | null, none: string) => (value === null ? none : value.toFixed(3));
  const path = simulation.path.length ? simulation.path.join(" → ") : "the root itself";
  return (
    <div class="phases">
      <ol>{PHASES.map((name, place) => <li key={name}><button class={place === phase ? "now" : ""} aria-current={place === phase ? "step" : undefined} onClick={() => pick(place)}>{place + 1}. {name}</button></li>)}</ol>
      {phase === 0 && (simulation.levels.length === 0 ? <p>The root has no children yet, so nothing is selected.</p> : simulation.levels.map((level, depth) => (
        <div key={depth} class="level">
          <p>Move {depth + 1}: <b>{level.move}</b> has the highest score.</p>
          {level.rule && <p class="formula">{level.rule}</p>}
          {level.rows && (
            <table class="moves"><thead><tr><th>move</th><th>visits</th><th>value</th><th>explore</th><th>score</th></tr></thead>
              <tbody>{[...level.rows].sort((a, b) => (b[4] ?? Infinity) - (a[4] ?? Infinity)).slice(0, 8).map((row) => (
                <tr key={row[0]} class={row[0] === level.move ? "best" : ""}><th scope="row">{row[0]}</th><td>{row[1]}</td><td>{number(row[2], "–")}</td><td>{number(row[3], "∞")}</td><td>{number(row[4], "∞")}</td></tr>
              ))}</tbody></table>
          )}
        </div>
      )))}
      {phase === 1 && <p>{simulation.new ? <>The path ends at a node without visits: <b>{path}</b>. It is added to the tree.</> : <>The path ends at a node that is known: <b>{path}</b>.</>}</p>}
      {phase === 2 && <p>The leaf is evaluated: the player to move at the root gets <b>{simulation.value.toFixed(3)}</b> from it.</p>}
      {phase === 3 && <p>Every node of the path counts one more visit, and <b>{simulation.value.toFixed(3)}</b> is added to its sum (with the sign of the player who chose it): {path}.</p>}
    </div>
  );
}
