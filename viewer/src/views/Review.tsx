import { useState } from "preact/hooks";
import { api, type ReviewRow } from "../api";
import { Chart, COLOURS } from "../chart";
import { attempt, begin, go, playerName, preview, review, reviewing, session } from "../state";

const NAMES: [number, string, string][] = [[0.2, "blunder", "??"], [0.1, "mistake", "?"], [0.05, "inaccuracy", "?!"]];
const kind = (loss: number) => NAMES.find(([least]) => loss >= least);

export function ReviewView() {
  const shown = session.value!;
  const [text, setText] = useState("");
  const found = review.value;
  const open = () => void begin(shown.position.game, { moves: text.split(/[\s,;]+/).filter(Boolean), people: shown.people });
  const run = () => void attempt(async () => {
    review.value = null;
    reviewing.value = null;
    const { total } = await api.review(shown.session, { visits: 3000 });
    reviewing.value ??= { done: 0, total };
  });
  const busy = reviewing.value !== null && reviewing.value.done < reviewing.value.total;
  return (
    <>
      <label class="column">Paste a game: its moves, separated by blanks
        <textarea rows={2} value={text} placeholder={shown.line.join(" ") || "4 4 3 5 …"} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button onClick={open} disabled={!text.trim()}>Open</button>
        <label class="file">Open a file<input type="file" accept=".json,.txt" onChange={(event) => void read(event.currentTarget.files?.[0], setText)} /></label>
        <button class="primary" onClick={run} disabled={!shown.plies || busy}>Review this game</button>
        {found?.over && <button onClick={() => download(found.rows, shown.position.game)}>Save the report</button>}
      </div>
      {busy && <progress max={reviewing.value!.total} value={reviewing.value!.done} aria-label="Review" />}
      {found && found.rows.length > 0 ? <Found rows={found.rows} /> : !busy && <p class="note">{shown.plies ? "The review searches every position, and shows where the game was won and lost." : "Play a game first, or paste one."}</p>}
    </>
  );
}

/** Read the moves of a file: of a saved game, or a list of moves as text. */
async function read(file: File | undefined, take: (text: string) => void): Promise<void> {
  if (!file || file.size > 1_000_000) return;
  const text = await file.text();
  try {
    const content = JSON.parse(text) as { moves?: unknown; line?: unknown };
    const moves = content.moves ?? content.line;
    take(Array.isArray(moves) ? moves.join(" ") : text.slice(0, 10_000));
  } catch {
    take(text.slice(0, 10_000));
  }
}

function Found({ rows }: { rows: ReviewRow[] }) {
  const shown = session.value!;
  const players = shown.position.players;
  const x = rows.map((row) => row.ply + 1);
  const first = rows.map((row) => (row.player === 0 || players !== 2 ? row.winrate : 1 - row.winrate));
  const worst = [...rows].filter((row) => kind(row.loss)).sort((a, b) => b.loss - a.loss).slice(0, 8);
  return (
    <>
      <h3>Value of the game {players === 2 ? "for player 1" : ""}</h3>
      <Chart x={x} xName="move" range={[0, 1]} height={170} marker={shown.ply} onPick={(index) => void go(rows[index]!.ply + 1)}
        series={[{ name: "value", colour: COLOURS[0]!, values: first, fill: true }]} />
      <div class="summary">
        {Array.from({ length: players }, (_, player) => {
          const own = rows.filter((row) => row.player === player);
          const mean = own.length ? own.reduce((sum, row) => sum + row.loss, 0) / own.length : 0;
          return (
            <div key={player}><b>{players === 1 ? "You" : playerName(player)}</b>
              <span>{(100 * mean).toFixed(1)} points lost a move</span>
              {NAMES.map(([least, name], place) => {
                const count = own.filter((row) => kind(row.loss)?.[0] === least).length;
                return count ? <span key={place} class={`badge ${name}`}>{count} {count === 1 ? name : name === "inaccuracy" ? "inaccuracies" : `${name}s`}</span> : null;
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
              <button onClick={() => void go(row.ply)} onMouseEnter={() => (preview.value = row.pv)} onMouseLeave={() => (preview.value = [])}>
                <b>{row.ply + 1}. {row.move}<span class={`badge ${kind(row.loss)![1]}`}>{kind(row.loss)![2]}</span></b>
                <span>lost {(100 * row.loss).toFixed(0)} points; better was <b>{row.best}</b> ({row.pv.slice(0, 5).join(" ")})</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Save the review as a page of its own, without scripts. */
function download(rows: ReviewRow[], game: string): void {
  const escape = (text: string) => text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]!);
  const lines = rows.map((row) => `<tr><td>${row.ply + 1}</td><td>${row.player + 1}</td><td>${escape(row.move)} ${kind(row.loss)?.[2] ?? ""}</td><td>${(100 * row.winrate).toFixed(1)}%</td><td>${(100 * row.loss).toFixed(1)}</td><td>${escape(row.best)}</td><td>${escape(row.pv.slice(0, 6).join(" "))}</td></tr>`);
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Review of ${escape(game)}</title><style>body{font:15px system-ui;margin:2rem;max-width:50rem}td,th{padding:.2rem .7rem;text-align:left}tr:nth-child(even){background:#f4f4f2}</style><h1>Review of ${escape(game)}</h1><table><tr><th>#</th><th>player</th><th>move</th><th>value</th><th>lost</th><th>best</th><th>expected</th></tr>${lines.join("")}</table></html>`;
  const made = document.createElement("a");
  made.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  made.download = `review-${game.replace(/\W+/g, "-")}.html`;
  made.click();
  URL.revokeObjectURL(made.href);
}
