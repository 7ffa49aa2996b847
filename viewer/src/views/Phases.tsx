import type { Level, Simulation } from "../api";
import { playerName } from "../state";
import { number } from "./MoveTable";

export const PHASES = ["Selection", "Expansion", "Evaluation", "Backup"];
const KNOWN = /^(value|c|P|N|n|sqrt|ln)$/;

/** The formula with the numbers of one move; empty where a term of it is not known here. */
export function filled(rule: string, row: NonNullable<Level["rows"]>[number]): string {
  const found = /score = ([^;]*); (?:c = ([\d.e+-]+).*, )?N = ([\d,]+)$/.exec(rule);
  const [, visits, value, exploration, score, prior] = row;
  if (!found || value === null || exploration === null || score === null || Math.abs(value + exploration - score) > 1e-6) return "";
  const [, formula, c, total] = found;
  const words: string[] = formula!.match(/[A-Za-z]+/g) ?? [];
  if (!words.every((word) => KNOWN.test(word)) || (words.includes("P") && prior === null)) return "";
  const numbers: Record<string, string> = { value: number(value), c: Number(c).toFixed(3), N: total!, n: String(visits), P: number(prior), sqrt: "√", ln: "ln " };
  const text = formula!.replace(/[A-Za-z]+/g, (word) => numbers[word]!).replaceAll("*", "·").replace(/ln \(([\d,]+)\)/, "ln $1");
  return `${text} = ${number(value)} + ${number(exploration)} = ${number(score)}`;
}

/** One simulation, phase by phase: the path that grows, and the numbers behind each step. */
export function Phases({ simulation, phase, pick }: { simulation: Simulation; phase: number; pick: (phase: number) => void }) {
  return (
    <div class="phases">
      <ol>{PHASES.map((name, place) => <li key={name}><button class={place === phase ? "now" : ""} aria-current={place === phase ? "step" : undefined} onClick={() => pick(place)}>{place + 1}. {name}</button></li>)}</ol>
      <Path simulation={simulation} phase={phase} />
      {phase === 0 && <Selection levels={simulation.levels} />}
      {phase === 1 && <Expansion simulation={simulation} />}
      {phase === 2 && <Evaluation simulation={simulation} />}
      {phase === 3 && <Backup levels={simulation.levels} />}
    </div>
  );
}

/** The path from the root, which lights up in the direction of the phase. */
function Path({ simulation, phase }: { simulation: Simulation; phase: number }) {
  const nodes = [{ move: "root", visits: "" }, ...simulation.levels.map((level) => ({ move: level.move, visits: String(level[phase === 3 ? "after" : "before"][0]) }))];
  const last = nodes.length - 1;
  const step = Math.min(110, 560 / Math.max(1, last + 1));
  const lit = (place: number) => (phase === 0 ? place < last || !simulation.new : phase === 3 ? true : place === last);
  const delay = (place: number) => `${0.09 * (phase === 3 ? last - place : place)}s`;
  return (
    <svg key={phase} class="pathline" viewBox={`0 0 ${Math.max(360, 60 + step * last + 110)} 76`} preserveAspectRatio="xMinYMid" role="img" aria-label={`${PHASES[phase]}: ${nodes.map((node) => node.move).join(", ")}`}>
      {nodes.slice(1).map((_, place) => <line key={place} class={`${lit(place) && lit(place + 1) ? "on" : ""} ${phase === 0 && simulation.new && place + 1 === last ? "dashed" : ""}`} x1={30 + step * place} y1={28} x2={30 + step * (place + 1)} y2={28} style={{ animationDelay: delay(place) }} />)}
      {nodes.map((node, place) => (
        <g key={place} class={`${lit(place) ? "on" : ""} ${phase === 0 && simulation.new && place === last && last > 0 ? "dashed" : ""}`} style={{ animationDelay: delay(place) }}>
          <circle cx={30 + step * place} cy={28} r={18} />
          <text x={30 + step * place} y={28} class={node.move.length > 4 ? "long" : ""}>{node.move}</text>
          {node.visits && <text class="count" x={30 + step * place} y={61}>n = {node.visits}</text>}
        </g>
      ))}
      {phase === 2 && <path class="rollout" d={`M${30 + step * last + 20} 28q6 -10 12 0t12 0t12 0`} />}
      {phase === 2 && <text class="result" x={30 + step * last + 84} y={28}>{number(simulation.value, 2)}</text>}
    </svg>
  );
}

function Selection({ levels }: { levels: Level[] }) {
  if (!levels.length) return <p>The root has no children yet, so nothing is selected.</p>;
  return (
    <>
      {levels.map((level, depth) => {
        const row = level.rows?.find((one) => one[0] === level.move);
        const text = level.rule && row ? filled(level.rule, row) : "";
        const whose = typeof level.player === "number" ? `${playerName(level.player)} chooses` : level.player === "chance" ? "Chance:" : "All players:";
        return (
          <details key={depth} class="level" open={depth === 0}>
            <summary>{whose} <b>{level.move}</b>{level.player !== "chance" && (row?.[4] === null ? ", which has no visits yet" : row ? ", the highest score" : "")}</summary>
            {level.rule && <p class="formula">{level.rule}</p>}
            {text && <p class="formula numbers">{level.move}: {text}</p>}
            {level.rows && <Rows rows={level.rows} chosen={level.move} />}
          </details>
        );
      })}
    </>
  );
}

function Rows({ rows, chosen }: { rows: NonNullable<Level["rows"]>; chosen: string }) {
  const shown = [...rows].sort((a, b) => (b[4] ?? Infinity) - (a[4] ?? Infinity)).slice(0, 8);
  return (
    <div class="scroll"><table class="moves"><thead><tr><th>move</th><th>n</th><th>Q</th><th>prior</th><th>explore</th><th>score</th></tr></thead>
      <tbody>{shown.map((row) => (
        <tr key={row[0]} class={row[0] === chosen ? "best" : ""}><th scope="row">{row[0]}</th><td>{row[1]}</td><td>{number(row[2])}</td><td>{number(row[5])}</td><td>{row[3] === null ? "∞" : number(row[3])}</td><td>{row[4] === null ? "∞" : number(row[4])}</td></tr>
      ))}</tbody></table></div>
  );
}

function Expansion({ simulation }: { simulation: Simulation }) {
  const path = simulation.path.length ? simulation.path.join(" → ") : "the root itself";
  if (!simulation.path.length) return <p>The tree has its root only: it is evaluated.</p>;
  return simulation.new ? <p>The path ends at <b>{path}</b>, a node without visits: n = 0, w = 0. It is added to the tree.</p>
    : <p>The path ends at <b>{path}</b>, which is in the tree already: an end of the game, or a leaf.</p>;
}

function Evaluation({ simulation }: { simulation: Simulation }) {
  return (
    <>
      <p>The leaf is evaluated. The players get:</p>
      <p class="formula numbers">{simulation.values.map((value, player) => `${playerName(player)}: ${number(value)}`).join("   ")}</p>
    </>
  );
}

function Backup({ levels }: { levels: Level[] }) {
  if (!levels.length) return <p>The root counts one more visit.</p>;
  return (
    <>
      <p>From the leaf to the root: one more visit, and the result is added to the sum of the player who chose the move.</p>
      <div class="scroll"><table class="moves"><thead><tr><th>move</th><th>chosen by</th><th>n + 1</th><th>w + result</th><th>Q = w / n</th></tr></thead>
        <tbody>{[...levels].reverse().map((level, place) => {
          const [before, after] = [level.before, level.after];
          return (
            <tr key={place}><th scope="row">{level.move}</th><td>{playerName(level.player)}</td><td>{before[0]} + 1 = {after[0]}</td>
              <td>{number(before[1], 2)} {after[1] < before[1] ? "−" : "+"} {number(Math.abs(after[1] - before[1]), 2)} = {number(after[1], 2)}</td>
              <td>{before[0] ? number(before[1] / before[0]) : "–"} → {number(after[1] / Math.max(1, after[0]))}</td></tr>
          );
        })}</tbody></table></div>
    </>
  );
}
