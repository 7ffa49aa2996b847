import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Drawing, fitDrawing, ZoomButtons } from "../proofs/Drawing";
import { Outline } from "../proofs/Outline";
import { back, busy, halt, leave, mistake, open as openLink, outcome, PACES, part, prove, refute, resume, settings, step, walk, type Pace, type ProofView } from "../proofs/search";
import { chosen, fold, items, open, restart, SIGNS } from "../proofs/walking";
import { info, opened } from "../state";
import "../proofs/proofs.css";

/** Formulas of rising difficulty. */
const EXAMPLES: [string, string][] = [
  ["Swap", "p & q -> q & p"],
  ["Chain", "(p -> q) -> (q -> r) -> p -> r"],
  ["Cases", "(p | q -> r) <-> (p -> r) & (q -> r)"],
  ["¬¬ Excluded middle", "~~(p | ~p)"],
  ["¬¬ Peirce's law", "~~(((p -> q) -> p) -> p)"],
  ["De Bruijn", "((p <-> q) -> p & q & r) & ((q <-> r) -> p & q & r) & ((r <-> p) -> p & q & r) -> p & q & r"],
  ["Pigeons", "(a1 | a2) & (b1 | b2) & (c1 | c2) -> a1 & b1 | a1 & c1 | b1 & c1 | a2 & b2 | a2 & c2 | b2 & c2"],
];
const UNPROVABLE: [string, string][] = [
  ["Excluded middle", "p | ~p"],
  ["Peirce's law", "((p -> q) -> p) -> p"],
];
const POLICIES = { puct: "PUCT", ucb1: "UCB1", best_first: "best first", blind_uniform: "blind, uniform" };
const MODES = { raw: "every rule", invertible: "choices only" };
const BUDGETS = [100, 1000, 10_000, 100_000];
const asOutline = signal(matchMedia("(max-width: 600px)").matches);

/** A proof search as an AND/OR graph: a goal needs one of its tactics, a tactic needs all its subgoals. */
export function Proofs() {
  useEffect(() => { back(); return leave; }, []);
  useEffect(() => {
    const given = opened.value;
    if (!given.size) return;
    opened.value = new URLSearchParams();
    if (openLink(given)) start();
  }, [opened.value]);
  const found = part.value;
  return (
    <div class="proofs">
      <Form />
      {found ? (
        <>
          <Standing proof={found.proof} />
          <div class="proof-columns">
            <div class="graph">
              <div class="graph-bar">
                <Crumbs />
                {!asOutline.value && <ZoomButtons />}
                <div class="switch" role="group" aria-label="Show as">
                  <button aria-pressed={!asOutline.value} onClick={() => (asOutline.value = false)}>Drawing</button>
                  <button aria-pressed={asOutline.value} onClick={() => (asOutline.value = true)}>Outline</button>
                </div>
              </div>
              {asOutline.value ? <Outline /> : <Drawing />}
              <Legend />
            </div>
            <aside aria-label="Result and details"><Result proof={found.proof} /><Details /></aside>
          </div>
        </>
      ) : (
        <div class="intro">
          <p>A goal needs <b>one</b> of its tactics, and a tactic needs <b>all</b> its subgoals. The search lets the most promising part of this AND/OR graph grow until the theorem is proved, or nothing is left to try. Every proof is verified by a checker that shares no code with the search.</p>
          <p class="note">Propositional formulas in intuitionistic logic: <code>&amp;</code> and, <code>|</code> or, <code>-&gt;</code> implies, <code>&lt;-&gt;</code> if and only if, <code>~</code> not, <code>True</code>, <code>False</code>. Enter one, or choose an example.</p>
        </div>
      )}
    </div>
  );
}

const sentence = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

function start(): void {
  restart();
  fitDrawing();
  void prove();
}

function Form() {
  const field = useRef<HTMLInputElement>(null);
  const { formula, lemma, policy, mode, seed, budget, pace } = settings;
  const own = info.value?.theorem;
  const wrong = mistake.value;
  useEffect(() => {
    if (wrong?.position == null) return;
    field.current!.focus();
    field.current!.setSelectionRange(wrong.position, wrong.position + 1);
  }, [wrong]);
  const choice = <T extends string>(title: string, value: { value: T }, names: Record<T, string>) => (
    <label>{title}
      <select value={value.value} onChange={(event) => (value.value = event.currentTarget.value as T)}>
        {(Object.keys(names) as T[]).map((name) => <option key={name} value={name}>{names[name]}</option>)}
      </select>
    </label>
  );
  const chip = ([title, text]: [string, string]) => (
    <button key={title} type="button" class="chip" title={text} aria-pressed={!lemma.value && formula.value === text} onClick={() => { formula.value = text; lemma.value = false; start(); }}>{title}</button>
  );
  return (
    <form onSubmit={(event) => { event.preventDefault(); start(); }}>
      <div class="formula-row">
        <label class="grow">Formula
          <input ref={field} type="text" value={formula.value} maxLength={1000} spellcheck={false} autocomplete="off" autocapitalize="off" placeholder={lemma.value ? `the lemma ${own}` : "p & q -> q & p"}
            aria-invalid={wrong ? true : undefined} aria-describedby={wrong ? "formula-error" : undefined} onInput={(event) => { formula.value = event.currentTarget.value; lemma.value = false; }} />
        </label>
        <button class="primary" disabled={!formula.value.trim() && !lemma.value}>Prove</button>
      </div>
      {wrong && <div class="wrong" id="formula-error" role="alert"><b>{sentence(wrong.text)}</b><pre>{wrong.shown}</pre></div>}
      <div class="chips" role="group" aria-label="Examples">
        {own && <button type="button" class="chip" aria-pressed={lemma.value} onClick={() => { lemma.value = true; formula.value = ""; start(); }}>Lemma {own}</button>}
        {EXAMPLES.map(chip)}<span class="note">not provable:</span>{UNPROVABLE.map(chip)}
      </div>
      <div class="controls">
        {choice("Policy", policy, POLICIES)}
        {!lemma.value && choice("Tactics", mode, MODES)}
        {choice("Pace", pace as { value: Pace }, PACES)}
        <label>Simulations
          <select value={budget.value} onChange={(event) => (budget.value = Number(event.currentTarget.value))}>
            {[...new Set([...BUDGETS, budget.value])].sort((a, b) => a - b).map((one) => <option key={one} value={one}>{one.toLocaleString("en")}</option>)}
          </select>
        </label>
        <label>Seed<input type="number" min={0} max={2147483647} value={seed.value} onInput={(event) => (seed.value = Math.max(0, Math.min(2147483647, Math.floor(Number(event.currentTarget.value)) || 0)))} /></label>
      </div>
    </form>
  );
}

function Standing({ proof }: { proof: ProofView }) {
  const { goals } = proof;
  const open = proof.status === "open" && !proof.model && !proof.full;
  return (
    <div class="standing">
      <dl class="facts">
        <div><dt>simulations</dt><dd>{proof.simulations.toLocaleString("en")}</dd></div>
        <div><dt>tactics tried</dt><dd>{proof.attempts.toLocaleString("en")}</dd></div>
        {(["proved", "open", "dead"] as const).map((status) => <div key={status}><dt>goals {status}</dt><dd class={status}>{SIGNS[status]} {goals[status].toLocaleString("en")}</dd></div>)}
        <div><dt>time</dt><dd>{proof.seconds.toFixed(2)} s</dd></div>
      </dl>
      <div class="buttons">
        {busy.value && <button onClick={() => void halt()}>Pause</button>}
        {open && !busy.value && <button onClick={() => void resume()}>Continue</button>}
        {open && !busy.value && <button onClick={() => void step()}>One simulation</button>}
      </div>
    </div>
  );
}

function Crumbs() {
  const { path, nodes, size } = part.value!;
  const shown = nodes.filter((node) => node.kind === "goal" && node.again === null).length;
  const last = path.slice(-4);
  return (
    <div class="crumb-row">
      {path.length > 0 && (
        <nav class="crumbs" aria-label="Path">
          <button class="quiet" onClick={() => void walk(0)}>theorem</button>
          {path.length > last.length && <span class="note">…</span>}
          {last.map((one, place) => <button key={place} class="quiet" onClick={() => void walk(last[place + 1]?.id ?? part.value!.goal)}><code>{one.tactic}</code></button>)}
        </nav>
      )}
      <span class="note">{shown === size ? `${size} ${size === 1 ? "goal" : "goals"}` : `${shown.toLocaleString("en")} of ${size.toLocaleString("en")} goals, the most visited first`}</span>
    </div>
  );
}

function Legend() {
  return (
    <>
      <ul class="key" aria-label="Legend">
        <li><svg viewBox="0 0 34 18" aria-hidden="true"><rect class="box" x="1" y="2" width="32" height="14" rx="3" /></svg>goal: one tactic is enough</li>
        <li><svg viewBox="0 0 34 18" aria-hidden="true"><rect class="box" x="1" y="2" width="32" height="14" rx="7" /></svg>tactic: needs all its goals</li>
        {(["proved", "open", "dead"] as const).map((status) => <li key={status}><span class={`sign ${status}`} aria-hidden="true">{SIGNS[status]}</span>{status}</li>)}
        <li><svg viewBox="0 0 34 18" aria-hidden="true"><path class="thick" d="M2 9H32" /></svg>the proof</li>
        <li><span class="sign" aria-hidden="true">↪</span>shared goal, listed elsewhere</li>
        <li><span class="sign" aria-hidden="true">↺</span>cycle</li>
      </ul>
      <p class="note keys-help" id="proof-keys">Arrow keys walk, <kbd>Enter</kbd> folds, <kbd>o</kbd> opens a goal, <kbd>Backspace</kbd> goes back.</p>
    </>
  );
}

function Result({ proof }: { proof: ProofView }) {
  const status = proof.status === "proved" ? "proved" : proof.status === "open" && !proof.model ? "open" : "dead";
  const text = proof.script.trimEnd() || proof.model?.text || "";
  const title = busy.value ? (proof.doing === "refuting" ? "Searching for a counter-model…" : "Searching…") : outcome(proof);
  return (
    <section class={`result ${status}`} aria-label="Result">
      <div class="head"><h3><span class="sign" aria-hidden="true">{SIGNS[status]}</span> {title}</h3>{text && <Copy text={text} />}</div>
      {proof.status === "proved" && <p class="note">Accepted by {proof.checker}{proof.assumptions.length ? `, depending on ${proof.assumptions.join(", ")}` : ""}.</p>}
      {proof.model && <p class="note">There is a counter-model: worlds in which more and more atoms hold. The formula fails in world 0.</p>}
      {proof.status === "exhausted" && !proof.model && !busy.value && <p class="note">{proof.refutable ? "Every tactic was tried. No counter-model was found in time." : "Every suggested tactic was tried. That is no refutation."}</p>}
      {!busy.value && proof.note && <p class="note">{sentence(proof.note)}.</p>}
      {text && <pre tabIndex={0} aria-label={proof.model ? "Counter-model" : "Proof"}>{text}</pre>}
      {proof.status === "open" && proof.refutable && !proof.model && !busy.value && <button onClick={() => void refute()}>Search for a counter-model</button>}
    </section>
  );
}

function Copy({ text }: { text: string }) {
  const [done, setDone] = useState("");
  useEffect(() => setDone(""), [text]);
  const copy = () => navigator.clipboard?.writeText(text).then(() => setDone("Copied"), () => setDone("Select the text and copy it"));
  return <div class="copy"><span class="note" role="status">{done}</span>{navigator.clipboard && <button onClick={() => void copy()}>Copy</button>}</div>;
}

function Details() {
  const item = chosen.value;
  if (!item) return null;
  const { node } = item;
  const percent = (value: number) => `${(100 * value).toFixed(1)}%`;
  return (
    <section class="chosen" aria-label="Chosen node">
      <h3>{node.kind === "goal" ? (node.id === 0 ? "Theorem" : `Goal ${node.id}`) : "Tactic"} <span class={`badge ${node.status}`}>{SIGNS[node.status]} {node.status}</span>{node.proof && <span class="badge">in the proof</span>}</h3>
      <p class="formula">{node.text}</p>
      {node.reason && <p class="note">{node.reason}</p>}
      <dl class="facts">
        <div><dt>visits</dt><dd>{node.visits.toLocaleString("en")}</dd></div>
        <div><dt>value</dt><dd>{node.value.toFixed(3)}</dd></div>
        {node.kind === "tactic" ? (
          <>
            <div><dt>probability</dt><dd>{percent(node.probability)}</dd></div>
            <div><dt>tried as</dt><dd>number {node.order + 1}</dd></div>
            <div><dt>subgoals</dt><dd>{node.failed ? "does not apply" : node.subgoals || "none: it proves the goal"}</dd></div>
            {node.backward && <div><dt>cycle</dt><dd>↺ leads back to this goal</dd></div>}
          </>
        ) : (
          <>
            <div><dt>tactics tried</dt><dd>{node.tactics}{node.untried === null ? "" : ` of ${node.tactics + node.untried}`}</dd></div>
            {node.shared > 1 && <div><dt>shared by</dt><dd>{node.shared} tactics</dd></div>}
          </>
        )}
      </dl>
      <div class="buttons">
        {item.children.length > 0 && <button onClick={() => fold(item)}>{item.folded ? "Unfold" : "Fold"}</button>}
        {node.kind === "goal" && item !== items.value[0] && <button onClick={() => open(item)}>{node.again === null ? "Open this goal" : "Go to this goal"}</button>}
      </div>
    </section>
  );
}
