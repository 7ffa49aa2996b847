import { useEffect, useRef, useState } from "preact/hooks";
import { run, replayed, writeLink } from "../state";
import { runsApi, type List, type Row } from "./runs-api";
import { RunDetail } from "./RunDetail";
import { Replayed } from "./Replayed";
import "../runs.css";

const EVERY = 2000;
const AGES = 30_000;

/** Training runs, matches, tournaments and evaluations of a folder, while they grow. */
export function Runs() {
  if (run.value && replayed.value) return <Replayed entry={run.value} />;
  return run.value ? <RunDetail key={run.value} entry={run.value} /> : <RunList />;
}

export function openRun(entry: string): void {
  run.value = entry;
  replayed.value = null;
  writeLink();
  focusPanel();
}

/** Move the focus to the panel: what had it is gone. */
export function focusPanel(): void {
  requestAnimationFrame(() => document.getElementById("panel")?.focus({ preventScroll: true }));
  scrollTo(0, 0);
}

/** Load something of the folder again whenever it changes, while the page is visible. `again` says that there is more. */
export function useLive<T>(entry: string, load: () => Promise<T>, again: (found: T) => boolean = () => false): { found: T | null; error: string } {
  const [found, setFound] = useState<T | null>(null);
  const [error, setError] = useState("");
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    let ended = false;
    let timer = 0;
    let seen = "";
    let loaded = -AGES;
    const tick = async () => {
      try {
        if (document.visibilityState === "visible") {
          const version = await runsApi.version(entry);
          const now = entry ? version.entry : version.list;
          if (now !== seen || performance.now() - loaded > AGES) {
            const made = await latest.current();
            if (ended) return;
            seen = again(made) ? "" : now;
            loaded = performance.now();
            setFound(() => made);
          }
          setError("");
        }
      } catch (problem) {
        if (!ended) setError(problem instanceof Error ? problem.message : String(problem));
      }
      if (!ended) timer = window.setTimeout(() => void tick(), seen ? EVERY : EVERY / 4);
    };
    void tick();
    return () => { ended = true; clearTimeout(timer); };
  }, [entry]);
  return { found, error };
}

function RunList() {
  const { found, error } = useLive<List>("", runsApi.list, (list) => list.waiting > 0);
  const [wanted, setWanted] = useState("");
  if (!found) return <p class="note">{error || "Reading the folder…"}</p>;
  if (found.folder === null) return <HowTo reason="This server shows no folder. Start it with one:" />;
  if (!found.entries.length && !found.waiting) return <HowTo reason={`The folder ${found.folder} holds no training run and no games yet.`} />;
  const shown = found.entries.filter((row) => `${row.name} ${row.kind} ${row.game} ${row.state}`.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <div class="runs">
      <div class="runs-head">
        <h2>{found.folder}</h2>
        {found.entries.length > 8 && <input type="search" placeholder="Filter" aria-label="Filter the list" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />}
        {found.waiting > 0 && <span class="note" role="status">{found.waiting} more files to read…</span>}
      </div>
      {error && <p class="note" role="alert">{error}</p>}
      <ul class="entries" aria-label="Training runs, matches and tournaments">
        {shown.map((row) => <li key={row.id}><Entry row={row} /></li>)}
      </ul>
      {shown.length === 0 && found.entries.length > 0 && <p class="note">Nothing in the list has “{wanted}” in it.</p>}
      {found.cut && <p class="note">The folder holds more than is shown here. Give --runs a smaller one.</p>}
    </div>
  );
}

function Entry({ row }: { row: Row }) {
  return (
    <button class={row.error ? "entry broken" : "entry"} onClick={() => openRun(row.id)}>
      <span class="what"><b>{row.name}</b><small>{row.error ? row.kind : `${row.kind} · ${row.game}`}</small></span>
      {row.error ? <span class="problem">{row.error}</span> : (
        <>
          <span class="result">{row.result || "–"}</span>
          <span class="amount">{row.amount}{row.state === "running" && row.progress !== null && <progress max={1} value={row.progress} aria-label={`${Math.round(100 * row.progress)}% done`} />}</span>
        </>
      )}
      <span class="when"><State state={row.state} /><small>{ago(row.ago)}</small></span>
    </button>
  );
}

export function State({ state }: { state: Row["state"] }) {
  return state ? <span class={`badge state ${state}`}>{state}</span> : null;
}

export function ago(seconds: number): string {
  if (seconds < 60) return "just now";
  const [size, unit] = seconds < 3600 ? [60, "min"] : seconds < 86_400 ? [3600, "h"] : [86_400, "days"] as const;
  const many = Math.floor(seconds / (size as number));
  return `${many} ${many === 1 && unit === "days" ? "day" : unit} ago`;
}

function HowTo({ reason }: { reason: string }) {
  return (
    <div class="howto">
      <h2>Runs</h2>
      <p>{reason}</p>
      <pre class="text">treetop serve --runs FOLDER</pre>
      <p class="note">It shows the training runs, matches, tournaments and evaluations that these commands write there, also while they are running:</p>
      <pre class="text">{"treetop train othello --out FOLDER/othello\ntreetop match uct greedy --game othello --out FOLDER/match.jsonl\ntreetop tournament random greedy uct --game othello --out FOLDER/tournament\ntreetop evaluate twenty48 --out FOLDER/scores.jsonl"}</pre>
    </div>
  );
}
