import { useState } from "preact/hooks";
import type { Analysis, MoveInfo } from "../api";
import { Chart, COLOURS } from "../chart";
import { valueColour } from "../board/Grid";
import { analysis, isOver, play, playerName, preview, session, stop, think, trail } from "../state";
import { Record } from "./Play";

const number = (value: number | null | undefined, digits = 3) => (value === null || value === undefined ? "" : value.toFixed(digits));
const percent = (value: number | null | undefined) => (value === null || value === undefined ? "" : `${(100 * value).toFixed(1)}%`);

export function Analyse() {
  const shown = session.value!;
  const found = analysis.value;
  return (
    <>
      <div class="buttons">
        {shown.thinking ? <button class="primary" onClick={() => void stop()}>Stop</button>
          : <button class="primary" disabled={isOver.value} onClick={() => void think({ seconds: 600 })}>{found ? "Go on" : "Analyse"}</button>}
        <button disabled={shown.thinking || isOver.value} onClick={() => void think({ visits: (found?.simulations ?? 0) + 1000, seconds: 60 })}>1,000 simulations</button>
        <button disabled={!found || shown.thinking} onClick={() => found && void play(found.move)}>Play {found?.move ?? "the best move"}</button>
      </div>
      {found ? <Findings found={found} /> : <p class="note">{isOver.value ? "The game is over: step back to analyse a position." : "Start the search, and watch where it spends its simulations."}</p>}
      <Record />
    </>
  );
}

function Findings({ found }: { found: Analysis }) {
  const [all, setAll] = useState(false);
  const rows = [...found.moves].sort((a, b) => a.order - b.order);
  const priors = rows.some((one) => one.prior !== null && Math.abs(one.prior - 1 / rows.length) > 1e-6);
  const proven = rows.some((one) => one.bounds);
  return (
    <>
      <p class="verdict">
        <b style={{ color: valueColour(found.root.winrate) }}>{percent(found.root.winrate)}</b> for {playerName(found.root.currentPlayer)}, who is to move
        <small>{found.simulations.toLocaleString("en")} simulations · {found.nodes.toLocaleString("en")} nodes</small>
      </p>
      <div class="scroll">
        <table class="moves">
          <thead><tr><th>move</th><th>visits</th><th>share</th><th>value</th>{priors && <th>prior</th>}<th>explore</th><th>score</th><th>LCB</th>{proven && <th>proven</th>}</tr></thead>
          <tbody>
            {rows.slice(0, all ? undefined : 12).map((one) => (
              <tr key={one.move} class={one.order === 0 ? "best" : ""} tabIndex={0} onMouseEnter={() => (preview.value = one.pv)} onMouseLeave={() => (preview.value = [])}
                onFocus={() => (preview.value = one.pv)} onBlur={() => (preview.value = [])} onDblClick={() => void play(one.move)}
                onKeyDown={(event) => { if (event.key === "Enter") void play(one.move); }}>
                <th scope="row">{one.move}{one.move === found.selected && <span class="next" title="The search goes here next: the highest score">▸</span>}</th>
                <td>{one.visits.toLocaleString("en")}</td>
                <td class="bar"><span style={{ width: `${(100 * one.share).toFixed(1)}%`, background: valueColour(one.winrate) }} />{percent(one.share)}</td>
                <td>{number(one.utility)}</td>
                {priors && <td>{percent(one.prior)}</td>}
                <td>{number(one.exploration)}</td>
                <td>{one.closed ? "closed" : one.score === null ? "∞" : number(one.score)}</td>
                <td>{percent(one.lcb)}</td>
                {proven && <td>{badge(one)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > 12 && <button class="quiet" onClick={() => setAll(!all)}>{all ? "Show the best 12" : `Show all ${rows.length} moves`}</button>}
      <p class="why"><b>{found.move}</b>, because {found.why}.</p>
      <p class="formula">{found.rule}</p>
      <p class="pv"><span>Expected</span> {rows[0]?.pv.map((move, place) => <button key={place} class="quiet" onMouseEnter={() => (preview.value = rows[0]!.pv.slice(0, place + 1))} onMouseLeave={() => (preview.value = [])}>{move}</button>)}</p>
      <Trail found={found} />
    </>
  );
}

function badge(one: MoveInfo) {
  if (!one.bounds) return "";
  const [low, high] = one.bounds;
  return low === high ? <span class="badge">{low > 0 ? "won" : low < 0 ? "lost" : "drawn"} {low}</span> : `${low} … ${high}`;
}

/** The value, and the share of the best moves, as the search went on. */
function Trail({ found }: { found: Analysis }) {
  const points = trail.value;
  if (points.length < 3) return null;
  const x = points.map((point) => point.visits);
  const moves = [...found.moves].sort((a, b) => b.visits - a.visits).slice(0, 5).map((one) => one.move);
  return (
    <>
      <h3>Value over simulations</h3>
      <Chart x={x} xName="simulations" range={[0, 1]} height={120} series={[{ name: "value", colour: COLOURS[0]!, values: points.map((point) => point.value), fill: true }]} />
      <h3>Share of visits <Legend names={moves} /></h3>
      <Chart x={x} xName="simulations" range={[0, 1]} height={130} series={moves.map((move, place) => ({ name: move, colour: COLOURS[place % COLOURS.length]!, values: points.map((point) => point.shares[move] ?? null) }))} />
    </>
  );
}

export function Legend({ names }: { names: string[] }) {
  return <span class="legend">{names.map((name, place) => <span key={name}><i style={{ background: COLOURS[place % COLOURS.length] }} />{name}</span>)}</span>;
}
