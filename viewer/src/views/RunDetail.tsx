import { useEffect, useMemo, useState } from "preact/hooks";
import { Chart, COLOURS, type Series } from "../chart";
import { replay, run } from "../state";
import { runsApi, type Detail, type Figure, type GamesPage, type Table } from "./runs-api";
import { ago, focusPanel, openRun, State, useLive } from "./Runs";

const PAGE = 50;

/** One training run, match, tournament or evaluation: figures, curves, tables, and its games. */
export function RunDetail({ entry }: { entry: string }) {
  const { found, error } = useLive<Detail>(entry, () => runsApi.detail(entry));
  return (
    <div class="runs">
      <div class="buttons">
        <button class="quiet" onClick={() => openRun("")}>‹ All runs</button>
        {found?.tournament && <button class="quiet" onClick={() => openRun(found.tournament!)}>‹ The tournament</button>}
      </div>
      {error && <p class="note" role="alert">{error}</p>}
      {!found ? !error && <p class="note">Reading…</p> : <Found found={found} />}
    </div>
  );
}

function Found({ found }: { found: Detail }) {
  const facts = Object.entries(found.facts ?? {});
  const short = facts.every(([, text]) => text.length < 28);
  const [settings, ...tables] = [...(found.tables ?? [])].sort((a, b) => Number(b.title === "Settings") - Number(a.title === "Settings"));
  const all = settings?.title === "Settings" ? tables : found.tables ?? [];
  const score = all.find((table) => table.title === "Score");
  const shown = all.filter((table) => table !== score);
  return (
    <>
      <h2>{found.title ?? found.name}</h2>
      <p class="about"><State state={found.state} /> <span>{found.name} · {found.kind}{found.game && ` · ${found.game}`} · {ago(found.ago)}</span></p>
      {found.error && <p class="problem" role="alert">{found.error}</p>}
      <div class={score ? "beside" : ""}>
        <dl class={short ? "facts figures" : "facts lines"}>{facts.map(([name, text]) => <div key={name}><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
        {score && <Rows table={score} />}
      </div>
      <div class="plots">{(found.charts ?? []).map((figure) => (figure.rows ? <Whiskers key={figure.title} figure={figure} /> : <Plot key={figure.title} figure={figure} />))}</div>
      {shown.map((table) => <section key={table.title}><h3>{table.title}</h3><Rows table={table} /></section>)}
      {found.parts && <section><h3>Matches</h3><ul class="parts">{found.parts.map((part) => (
        <li key={part.id}><button onClick={() => openRun(part.id)}><b>{part.title}</b><span>{part.result && `${part.result} for the first · `}{part.amount}</span></button></li>
      ))}</ul></section>}
      {!!found.games && <Games entry={found.id} total={found.games} />}
      {settings?.title === "Settings" && <details class="settings"><summary>Settings</summary><Rows table={settings} /></details>}
    </>
  );
}

function Rows({ table }: { table: Table }) {
  return (
    <div class="scroll" role="region" aria-label={table.title} tabIndex={0}>
      <table class="moves">
        <thead><tr>{table.head.map((name, place) => <th key={place} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {table.rows.map((row, place) => (
            <tr key={place}>{row.map((cell, column) => {
              const link = table.links?.[place]?.[column];
              const content = link ? <button class="quiet" onClick={() => openRun(link)} aria-label={`${cell}: open the match`}>{cell}</button> : cell;
              return column ? <td key={column}>{content}</td> : <th key={column} scope="row">{content}</th>;
            })}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const short = (value: number | null | undefined) => {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  return size >= 100 ? Math.round(value).toLocaleString("en") : size >= 10 ? value.toFixed(1) : Number.isInteger(value) ? String(value) : value.toFixed(3);
};

const xText = (value: number | undefined) => (value === undefined ? "" : Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(1));
/** The name of a player, as short as a legend needs it. */
const brief = (name: string) => name.replaceAll("simulations=", "");

/** A chart with its last values, or those under the pointer. */
function Plot({ figure }: { figure: Figure }) {
  const [at, setAt] = useState<number | null>(null);
  const x = figure.x!;
  const series = useMemo<Series[]>(() => figure.series!.map((one, place) => ({ ...one, name: brief(one.name), colour: COLOURS[place % COLOURS.length]! })), [figure]);
  const levels = useMemo(() => figure.levels?.map((level) => ({ ...level, name: brief(level.name) })), [figure]);
  const index = at !== null && at < x.length ? at : x.length - 1;
  const interval = (one: Series) => (one.low ? ` (${short(one.low[index])} to ${short(one.high![index])})` : "");
  const value = (one: Series) => `${short(one.values[index])}${interval(one)}`;
  const label = `${figure.title}, ${figure.unit}. Last: ${series.map((one) => `${one.name} ${value(one)}`).join("; ")}`;
  return (
    <figure class="plot">
      <figcaption><b>{figure.title}</b>{figure.unit !== figure.title.toLowerCase() && <span>{figure.unit}</span>}</figcaption>
      <Chart x={x} series={series} levels={levels} range={figure.range} xName={figure.xName} height={190} onHover={setAt} label={label} />
      <p class="reading">
        <span>{xText(x[index])} {figure.xName}</span>
        {series.map((one) => <span key={one.name}><i style={{ background: one.colour }} />{series.length > 1 && `${one.name} `}<b>{value(one)}</b></span>)}
      </p>
    </figure>
  );
}

/** A value with its interval for each player. */
function Whiskers({ figure }: { figure: Figure }) {
  const rows = figure.rows!;
  const ends = rows.flatMap((row) => [row.low, row.high, row.value]).filter((value): value is number => value !== null);
  const least = Math.min(...ends);
  const wide = Math.max(...ends) - least || 1;
  const at = (value: number | null, none: number) => (value === null ? none : 2 + (96 * (value - least)) / wide);
  return (
    <figure class="plot">
      <figcaption><b>{figure.title}</b><span>{figure.unit}</span></figcaption>
      <ul class="whiskers">
        {rows.map((row, place) => (
          <li key={place}>
            <span class="who" title={row.name}>{row.name}</span>
            <span class="span" aria-hidden="true">
              <i style={{ left: `${at(row.low, 0)}%`, right: `${100 - at(row.high, 100)}%` }} />
              {row.value !== null && <b style={{ left: `${at(row.value, 50)}%` }} />}
            </span>
            <span class="number">{short(row.value)}<small> {row.low === row.high ? "fixed" : `${short(row.low)} to ${short(row.high)}`}</small></span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function Games({ entry, total }: { entry: string; total: number }) {
  const [first, setFirst] = useState(0);
  const [page, setPage] = useState<GamesPage | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    let ended = false;
    runsApi.games(entry, first, PAGE).then((found) => { if (!ended) { setPage(found); setError(""); } }, (problem: Error) => { if (!ended) setError(problem.message); });
    return () => { ended = true; };
  }, [entry, first, total]);
  if (error) return <p class="problem" role="alert">{error}</p>;
  if (!page) return null;
  const last = Math.min(first + PAGE, page.total);
  return (
    <section aria-label="Games">
      <h3>Games</h3>
      <div class="scroll" role="region" aria-label="List of games" tabIndex={0}>
        <table class="moves games">
          <thead><tr>{page.head.map((name, place) => <th key={place} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {page.rows.map((row, place) => {
              const number = page.numbers[place]!;
              return (
                <tr key={number}>
                  <th scope="row"><button onClick={() => void replay(run.value, number).then(focusPanel)} aria-label={`Replay game ${number + 1}`}>▶ {number + 1}</button></th>
                  {row.map((cell, column) => <td key={column}>{cell}</td>)}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {page.total > PAGE && (
        <div class="buttons">
          <button disabled={first === 0} onClick={() => setFirst(Math.max(0, first - PAGE))} aria-label="Earlier games">◀</button>
          <span class="note">{first + 1} to {last} of {page.total.toLocaleString("en")}</span>
          <button disabled={last >= page.total} onClick={() => setFirst(first + PAGE)} aria-label="Later games">▶</button>
        </div>
      )}
    </section>
  );
}
