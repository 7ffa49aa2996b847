import { useEffect, useRef, useState } from "preact/hooks";
import { api, type FinalRule, type QuickSearch, type WhatIf } from "../api";
import { analysis, attempt, isOver, playerName, preview, session } from "../state";
import { number } from "./MoveTable";

const FINALS: [FinalRule, string, string][] = [
  ["visits", "visits", "the most visits"], ["value", "value", "the highest mean"],
  ["secure", "secure", "the highest mean less one standard deviation"], ["lcb", "LCB", "visits, weighted by lower confidence bounds"],
  ["temperature", "sampled", "drawn by visits ^ (1 / temperature)"], ["mixed", "mixed", "drawn from the mixed strategy"],
];
const SEEDS = 5;
const WAIT = 250; // milliseconds without a change before a search begins

interface Wanted { rule: string | null; c: number | null; fpu: number | null; prior_temperature: number | null; visits: number }
const START: Wanted = { rule: null, c: null, fpu: null, prior_temperature: null, visits: 2000 };

/** Other settings for the position: a quick search after each change of a slider, and final rules without any search. */
export function WhatIfView() {
  const shown = session.value!;
  const [wanted, setWanted] = useState<Wanted>(START);
  const [picked, setFinal] = useState<FinalRule | null>(null);
  const [tau, setTau] = useState(1);
  const [before, setBefore] = useState<WhatIf | null>(null);
  const [now, setNow] = useState<WhatIf | null>(null);
  const [busy, setBusy] = useState(false);
  const latest = useRef(0);
  const change = (part: Partial<Wanted>) => setWanted((old) => ({ ...old, ...part }));
  useEffect(() => { setBefore(null); setNow(null); }, [shown.session, shown.ply]);
  useEffect(() => {
    if (isOver.value) return;
    const turn = (latest.current += 1);
    const timer = setTimeout(() => void (async () => {
      setBusy(true);
      const content = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null));
      const found = await attempt(() => api.whatIf(shown.session, { ...content, seeds: SEEDS }));
      if (turn !== latest.current) return;
      if (found) { setNow(found); setBefore((old) => old ?? found); }
      setBusy(false);
    })(), now ? WAIT : 0);
    return () => clearTimeout(timer);
  }, [wanted, shown.session, shown.ply]);
  if (isOver.value) return <p class="note">The game is over: step back to a position with a decision.</p>;
  if (!now || !before) return <p class="note" role="status">Searching with {SEEDS} seeds…</p>;
  const [low, high] = now.settings.range;
  const offered = FINALS.filter(([name]) => now.searches[0]!.finals[name]).map(([name]) => name);
  const final = picked && offered.includes(picked) ? picked : now.settings.final;
  const has = (name: string) => now.settings.adjustable.includes(name);
  return (
    <>
      <p class="note">The decision under other settings: {SEEDS} quick searches with the same seeds after each change, other final rules at once from the recorded statistics.</p>
      <div class="controls">
        <label>Rule
          <select value={wanted.rule ?? ""} onChange={(event) => setWanted({ ...START, visits: wanted.visits, rule: event.currentTarget.value || null })}>
            {now.rules.map((one) => <option key={one.name} value={one.rule ?? ""}>{one.name}</option>)}
          </select>
        </label>
        <div class="buttons end">
          <button onClick={() => setBefore(now)} disabled={before === now}>Compare with this from now on</button>
          <button class="quiet" onClick={() => { setWanted(START); setFinal(null); setTau(1); }}>Reset</button>
        </div>
      </div>
      <div class="sliders">
        <Slider name="Exploration c" value={wanted.c ?? now.settings.c} min={0} max={4} step={0.05} off={!has("c")} set={(c) => change({ c })} />
        <Slider name="First-play urgency" value={wanted.fpu ?? (typeof now.settings.fpu === "number" ? now.settings.fpu : null)} min={low} max={high} step={(high - low) / 40} off={!has("fpu")} set={(fpu) => change({ fpu })} />
        <Slider name="Prior temperature" value={wanted.prior_temperature ?? now.settings.prior_temperature} min={0.1} max={4} step={0.05} off={!has("prior_temperature")} set={(prior_temperature) => change({ prior_temperature })} />
        <Slider name="Simulations" value={wanted.visits} min={100} max={20000} step={100} off={false} set={(visits) => change({ visits })} />
      </div>
      <div class={`decisions ${busy ? "busy" : ""}`} aria-busy={busy}>
        <Decided title="Before" found={before} final={final} tau={tau} />
        <Decided title="Now" found={now} final={final} tau={tau} against={before} />
      </div>
      <Finals before={before} now={now} final={final} setFinal={setFinal} tau={tau} setTau={setTau} />
      <Pairs before={before.searches[0]!} now={now.searches[0]!} tau={final === "temperature" ? tau : 1} />
    </>
  );
}

/** The move of a final rule; sampled, the most likely one with its probability. */
function decision(search: QuickSearch, final: FinalRule, tau: number): { move: string; note: string } {
  if (final !== "temperature") return { move: search.finals[final]?.move ?? "–", note: search.finals[final]?.why ?? "" };
  const shares = sampled(search, tau);
  const best = shares.reduce((a, b) => (b[1] > a[1] ? b : a));
  return { move: best[0], note: `drawn with a probability of ${(100 * best[1]).toFixed(1)}%` };
}

/** Probabilities by visits ^ (1 / temperature), in log space; 0 is the most visited move. */
export function sampled(search: QuickSearch, tau: number): [string, number][] {
  const most = Math.max(...search.moves.map((move) => move[1]));
  const weights = search.moves.map(([, visits]) => (visits === 0 ? 0 : tau === 0 ? Number(visits === most) : Math.exp(Math.log(visits / most) / tau)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return search.moves.map((move, place) => [move[0], weights[place]! / total]);
}

function Decided({ title, found, final, tau, against }: { title: string; found: WhatIf; final: FinalRule; tau: number; against?: WhatIf }) {
  const chosen = decision(found.searches[0]!, final, tau);
  const same = found.searches.filter((one) => decision(one, final, tau).move === chosen.move).length;
  const changed = against && decision(against.searches[0]!, final, tau).move !== chosen.move;
  const { settings } = found;
  const shown = [settings.c !== null && `c ${settings.c.toFixed(2)}`, settings.fpu !== null && `FPU ${typeof settings.fpu === "number" ? settings.fpu.toFixed(2) : settings.fpu}`, settings.prior_temperature !== null && `priors ^ 1/${settings.prior_temperature.toFixed(2)}`];
  return (
    <section aria-label={title}>
      <h3>{title}{changed && <span class="badge inaccuracy">changed</span>}</h3>
      <p class="move"><b>{chosen.move}</b><span class={`badge ${same === found.of ? "good" : same * 2 > found.of ? "" : "inaccuracy"}`}>{same === found.of ? "stable" : "unstable"}: {same} of {found.of} seeds</span></p>
      <p class="reason">{chosen.note}</p>
      <small>{settings.rule}, {shown.filter(Boolean).join(", ")}{shown.some(Boolean) ? ", " : ""}{number(found.searches[0]!.value)} for {playerName(session.value!.position.player)}</small>
    </section>
  );
}

/** Every final rule with its decisions, from the same statistics. */
function Finals({ before, now, final, setFinal, tau, setTau }: {
  before: WhatIf; now: WhatIf; final: FinalRule; setFinal: (rule: FinalRule) => void; tau: number; setTau: (tau: number) => void;
}) {
  const recorded = analysis.value;
  return (
    <>
      <h3 id="finals">Final rule</h3>
      <div class="scroll">
        <table class="moves finals">
          <thead><tr><th scope="col">rule</th>{recorded && <th scope="col">analysis, {recorded.simulations.toLocaleString("en")}</th>}<th scope="col">before</th><th scope="col">now</th></tr></thead>
          <tbody>
            {FINALS.filter(([name]) => now.searches[0]!.finals[name]).map(([name, title, about]) => (
              <tr key={name} class={name === final ? "best" : ""}>
                <th scope="row"><label class="check" title={about}><input type="radio" name="final" checked={name === final} onChange={() => setFinal(name)} />{title}<small>{about}</small></label></th>
                {recorded && <td title={recorded.finals[name]?.why}>{recorded.finals[name]?.move ?? "–"}</td>}
                <td>{decision(before.searches[0]!, name, tau).move}</td>
                <td>{decision(now.searches[0]!, name, tau).move}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Slider name="Temperature of sampling" value={tau} min={0} max={4} step={0.05} off={final !== "temperature"} set={setTau} />
    </>
  );
}

/** The shares of the moves before and now, in pairs. */
function Pairs({ before, now, tau }: { before: QuickSearch; now: QuickSearch; tau: number }) {
  const old = new Map(sampled(before, tau));
  const rows = sampled(now, tau).map(([move, share]) => ({ move, share, old: old.get(move) ?? 0, value: now.moves.find((one) => one[0] === move)![2] }));
  const top = rows.sort((a, b) => Math.max(b.share, b.old) - Math.max(a.share, a.old)).slice(0, 8);
  const longest = Math.max(...top.map((row) => Math.max(row.share, row.old)));
  return (
    <div class="scroll"><table class="moves pairs">
      <thead><tr><th scope="col">move</th><th scope="col">{tau === 1 ? "share of the visits" : "probability"}: before, now</th><th scope="col">before</th><th scope="col">now</th><th scope="col">Q now</th></tr></thead>
      <tbody>
        {top.map((row) => (
          <tr key={row.move} tabIndex={0} onMouseEnter={() => (preview.value = [row.move])} onMouseLeave={() => (preview.value = [])} onFocus={() => (preview.value = [row.move])} onBlur={() => (preview.value = [])}>
            <th scope="row">{row.move}</th>
            <td class="pair"><i style={{ width: `${(100 * row.old) / longest}%` }} /><i class="now" style={{ width: `${(100 * row.share) / longest}%` }} /></td>
            <td>{(100 * row.old).toFixed(1)}%</td><td>{(100 * row.share).toFixed(1)}%</td><td>{number(row.value)}</td>
          </tr>
        ))}
      </tbody>
    </table></div>
  );
}

function Slider({ name, value, min, max, step, off, set }: {
  name: string; value: number | null; min: number; max: number; step: number; off: boolean; set: (value: number) => void;
}) {
  const unset = off ? "–" : "none";
  return (
    <label class={`slider ${off ? "off" : ""}`}><span>{name}</span>
      <input type="range" min={min} max={max} step={step} value={value ?? (min + max) / 2} disabled={off} onInput={(event) => set(Number(event.currentTarget.value))} aria-valuetext={value === null ? unset : String(value)} />
      <output>{value === null || (off && step !== 100) ? unset : step !== 100 ? value.toFixed(2) : value.toLocaleString("en")}</output>
    </label>
  );
}
