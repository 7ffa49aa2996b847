import type { Analysis } from "../api";
import { Chart, COLOURS } from "../chart";
import { analysis, isOver, play, playerName, preview, session, stop, think, trail } from "../state";
import { MoveTable, number, percent } from "./MoveTable";
import { Record } from "./Play";

export function Analyse() {
  const shown = session.value!;
  const found = analysis.value;
  return (
    <>
      <div class="buttons">
        {shown.thinking ? <button class="primary steady" onClick={() => void stop()}>Stop</button>
          : <button class="primary steady" disabled={isOver.value} onClick={() => void think({ seconds: 600 })}>{found ? "Go on" : "Analyse"}</button>}
        <button disabled={shown.thinking || isOver.value} onClick={() => void think({ visits: (found?.simulations ?? 0) + 1000, seconds: 60 })}>1,000 simulations</button>
        <button disabled={!found || shown.thinking} onClick={() => found && void play(found.move)}>Play {found?.move ?? "the best move"}</button>
      </div>
      {found ? <Findings found={found} players={shown.position.players} onPreview={(moves) => (preview.value = moves)} onPlay={(move) => void play(move)} />
        : <p class="note">{isOver.value ? "The game is over: step back to analyse a position." : "Start the search, and watch where it spends its simulations."}</p>}
      <h3>Moves</h3>
      <Record />
    </>
  );
}

/** What a search has found: the value, every move with the terms of the formula, the reason, the expected line. */
export function Findings({ found, players, onPreview, onPlay }: {
  found: Analysis; players: number; onPreview: (moves: string[]) => void; onPlay?: (move: string) => void;
}) {
  const best = found.moves.find((one) => one.order === 0);
  return (
    <>
      <Verdict found={found} players={players} />
      <MoveTable rows={found.moves} selected={found.selected} onPreview={onPreview} onPlay={onPlay} />
      <p class="why"><b>{found.move}</b>, because {found.why}.</p>
      <p class="formula">{found.rule}</p>
      <p class="pv"><span>Expected</span>{best?.pv.map((move, place) => (
        <button key={place} class="quiet" aria-label={`Show ${place + 1} ${place ? "moves" : "move"} of the variation, to ${move}`} onMouseEnter={() => onPreview(best.pv.slice(0, place + 1))} onMouseLeave={() => onPreview([])}
          onFocus={() => onPreview(best.pv.slice(0, place + 1))} onBlur={() => onPreview([])}>{move}</button>
      ))}</p>
      <Trail found={found} />
    </>
  );
}

/** The value of the position, and from whose view everything is given. */
function Verdict({ found, players }: { found: Analysis; players: number }) {
  const { root } = found;
  const whose = root.currentPlayer;
  const name = playerName(whose);
  const size = `${found.simulations.toLocaleString("en")} simulations, ${found.nodes.toLocaleString("en")} nodes.`;
  return (
    <div class="verdict">
      {players === 1 ? <p><b>{number(root.utility)}</b> is the expected result <span class="value">{percent(root.winrate)} of the range</span></p>
        : <p><b>{percent(root.winrate)}</b> for <i class={`dot player${whose}`} /> {name}, who is to move <span class="value">value {number(root.utility)}</span></p>}
      <div class="gauge" role="img" aria-label={`${percent(root.winrate)} of the way from the worst to the best result${players === 1 ? "" : ` for ${name}`}`}>
        <span style={{ width: percent(root.winrate) }} /><i />
      </div>
      <small>{players === 1 ? "All values below are expected results; percentages are shares of their range. " : `All values below are from the view of ${name}: higher is better for ${name}. `}{size}</small>
    </div>
  );
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
      <Chart x={x} xName="simulations" percent range={[0, 1]} height={120} series={[{ name: "value", colour: COLOURS[0]!, values: points.map((point) => point.value), fill: true }]} />
      <h3>Share of visits <Legend names={moves} /></h3>
      <Chart x={x} xName="simulations" percent range={[0, 1]} height={130} series={moves.map((move, place) => ({ name: move, colour: COLOURS[place % COLOURS.length]!, values: points.map((point) => point.shares[move] ?? null) }))} />
    </>
  );
}

export function Legend({ names }: { names: string[] }) {
  return <span class="legend">{names.map((name, place) => <span key={name}><i style={{ background: COLOURS[place % COLOURS.length] }} />{name}</span>)}</span>;
}
