import { useState } from "preact/hooks";
import { api, type ReviewRow } from "../api";
import { Chart, COLOURS } from "../chart";
import { attempt, begin, go, playerName, preview, review, reviewing, session, setup, take } from "../state";
import { common, mainLine, variations, type Variation } from "../variations";
import { Record } from "./Play";
import { readRecord, save, writeRecord } from "./records";
import { countOf, lossOf, LOSSES, lost, report, valuesOf } from "./report";

const DEPTHS: [string, number][] = [["quick", 1000], ["normal", 3000], ["deep", 20_000]];

export function ReviewView() {
  const shown = session.value!;
  const [text, setText] = useState("");
  const [visits, setVisits] = useState(3000);
  const found = review.value;
  const main = mainLine.value ?? shown.line;
  const open = () => {
    const { game, moves } = readRecord(text);
    void begin(game ?? shown.position.game, { moves, people: shown.people, seed: shown.seed, ...(setup.value && !game ? { setup: setup.value } : {}) });
  };
  const run = () => void attempt(async () => {
    if (mainLine.value) take(await api.follow(shown.session, main, Math.min(shown.ply, main.length)));
    review.value = null;
    reviewing.value = null;
    const { total } = await api.review(shown.session, { visits });
    reviewing.value ??= { done: 0, total };
  });
  const busy = reviewing.value !== null && reviewing.value.done < reviewing.value.total;
  const name = shown.position.game.replace(/\W+/g, "-");
  return (
    <>
      <details class="setup record-in" open={!shown.plies}>
        <summary>Open a game: paste its record, or choose a file</summary>
        <form onSubmit={(event) => { event.preventDefault(); open(); }}>
          <label class="column">Moves, separated by blanks, with or without numbers
            <textarea rows={2} value={text} placeholder={shown.line.join(" ") || "4 4 3 5 …"} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
          <div class="buttons">
            <button disabled={!text.trim()}>Open</button>
            <label class="file">Open a file<input type="file" accept=".json,.jsonl,.txt,.pgn" onChange={(event) => void read(event.currentTarget.files?.[0], setText)} /></label>
          </div>
        </form>
      </details>
      <div class="buttons">
        <button class="primary" onClick={run} disabled={!main.length || busy}>Review this game</button>
        <label class="inline">Search <select value={String(visits)} onChange={(event) => setVisits(Number(event.currentTarget.value))}>{DEPTHS.map(([title, count]) => <option key={title} value={String(count)}>{title} · {count.toLocaleString("en")} a move</option>)}</select></label>
        <button onClick={() => save(`${name}.txt`, "text/plain", writeRecord(shown.position.game, main))} disabled={!main.length}>Save the moves</button>
        <button onClick={() => found && save(`review-${name}.html`, "text/html", report(found.rows, shown.position.game, shown.position.players, main))} disabled={!found?.over || !found.rows.length}>Save the report</button>
      </div>
      {busy && <progress max={Math.max(1, reviewing.value?.total ?? 1)} value={reviewing.value?.done ?? 0} aria-label="Review" />}
      {found && found.rows.length > 0 ? <Found rows={found.rows} /> : !busy && <p class="note">{shown.plies ? "The review searches every position, and shows where the game was won and lost." : "Play a game first, or open one."}</p>}
      <h3>Moves</h3>
      <Record />
      <Variations />
    </>
  );
}

/** Read the text of a file of at most a megabyte. */
async function read(file: File | undefined, take: (text: string) => void): Promise<void> {
  if (!file) return;
  await attempt(async () => {
    if (file.size > 1_000_000) throw new Error(`${file.name} has ${file.size.toLocaleString("en")} bytes: a record of a game has at most 1,000,000`);
    take(await file.text());
  });
}

/** The lines that were tried beside the game, and the way back. */
function Variations() {
  const shown = session.value!;
  const main = mainLine.value;
  if (!main) return <p class="note small">Play another move at any position to try a variation: the game is kept.</p>;
  const follow = (moves: string[], ply: number) => void attempt(async () => take(await api.follow(shown.session, moves, ply)));
  const at = common(main, shown.line);
  const isMain = at === shown.line.length || at === main.length;
  const full = (one: Variation) => [...main.slice(0, one.at), ...one.moves];
  return (
    <>
      <h3 id="variations">Variations</h3>
      <ul class="variations" aria-labelledby="variations">
        <li><button class={isMain ? "now" : ""} aria-current={isMain} onClick={() => follow(main, Math.min(at, main.length))}>The game</button></li>
        {variations.value.map((one) => {
          const current = full(one).join(" ") === shown.line.join(" ");
          return (
            <li key={full(one).join(" ")}>
              <button class={current ? "now" : ""} aria-current={current} onClick={() => follow(full(one), one.at + 1)}><i>after {one.at}</i> {one.moves.join(" ")}</button>
              <button class="quiet" aria-label={`Remove the variation ${one.moves.join(" ")}`} onClick={() => { variations.value = variations.value.filter((other) => other !== one); if (current) follow(main, one.at); }}>×</button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Found({ rows }: { rows: ReviewRow[] }) {
  const shown = session.value!;
  const players = shown.position.players;
  const values = valuesOf(rows, players);
  const worst = [...rows].filter((row) => lossOf(row.loss)).sort((a, b) => b.loss - a.loss).slice(0, 8);
  const jump = (row: ReviewRow) => void attempt(async () => {
    if (mainLine.value) take(await api.follow(shown.session, mainLine.value, row.ply));
    else await go(row.ply);
  });
  return (
    <>
      <h3>Value of the game {players === 2 ? "for player 1" : "for the player who moved"}</h3>
      <Chart x={rows.map((row) => row.ply + 1)} xName="move" whole percent range={[0, 1]} height={170} marker={shown.ply} onPick={(index) => jump({ ...rows[index]!, ply: rows[index]!.ply + 1 })}
        series={[{ name: "value", colour: COLOURS[0]!, values, fill: true }, { name: "moves that lost much", colour: "#b23a3a", values: rows.map((row, place) => (row.loss >= 0.1 ? values[place]! : null)), dots: true }]} />
      <div class="summary">
        {Array.from({ length: players }, (_, player) => {
          const own = rows.filter((row) => row.player === player);
          const mean = own.length ? own.reduce((sum, row) => sum + row.loss, 0) / own.length : 0;
          return (
            <div key={player}><b>{players === 1 ? "You" : playerName(player)}</b>
              <span>{(100 * mean).toFixed(1)} points lost a move</span>
              {LOSSES.map(([least, name], place) => {
                const count = own.filter((row) => lossOf(row.loss)?.[0] === least).length;
                return count ? <span key={place} class={`badge ${name}`}>{countOf(count, name)}</span> : null;
              })}
            </div>
          );
        })}
      </div>
      <h3>What should have been played</h3>
      {worst.length === 0 ? <p class="note">No move lost much.</p> : (
        <ul class="losses">
          {worst.map((row) => (
            <li key={row.ply}>
              <button class={row.ply === shown.ply ? "now" : ""} onClick={() => jump(row)} onMouseEnter={() => (preview.value = row.ply === session.value?.ply ? row.pv : [])} onMouseLeave={() => (preview.value = [])}>
                <b>{row.ply + 1}. {row.move}</b><span class={`badge ${lossOf(row.loss)![1]}`}>{lossOf(row.loss)![2]}</span>
                <span class="lost" title={`${lost(row.loss)} lost`}>−{(100 * row.loss).toFixed(0)}</span>
                <span class="better">better was <b>{row.best}</b><small>{row.pv.slice(0, 6).join(" ")}</small></span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
