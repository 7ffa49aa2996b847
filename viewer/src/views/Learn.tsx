import { useEffect, useState } from "preact/hooks";
import { Chart, COLOURS } from "../chart";
import { begin, show } from "../state";
import { Diagram, mean, puct, ucb1, type Arm } from "./lesson";

const START: Arm[] = [
  { name: "A", visits: 50, wins: 40, prior: 0.4 },
  { name: "B", visits: 10, wins: 6, prior: 0.1 },
  { name: "C", visits: 40, wins: 20, prior: 0.5 },
];
/** The chances of winning in the step with many simulations, which the search does not know. */
const TRUTH: Record<string, number> = { A: 0.7, B: 0.8, C: 0.5 };
const NUMBERS = Array.from({ length: 100 }, (_, n) => n + 1);
const bonusOf = (visits: number) => 1.414 * Math.sqrt(Math.log(100) / visits);

/** A table of three moves whose numbers can be changed; the highest score is marked. */
function Arms({ rule, steps = false }: { rule: "ucb1" | "puct"; steps?: boolean }) {
  const [arms, setArms] = useState(START);
  const [c, setC] = useState(rule === "ucb1" ? Math.SQRT2 : 1);
  const [last, setLast] = useState("");
  const total = arms.reduce((sum, arm) => sum + arm.visits, 0);
  const score = (arm: Arm) => (rule === "ucb1" ? ucb1(arm, total, c) : puct(arm, total, c));
  const best = arms.reduce((a, b) => (score(b) > score(a) ? b : a));
  const change = (name: string, field: "visits" | "wins", value: number) =>
    setArms(arms.map((arm) => (arm.name === name ? { ...arm, [field]: value, ...(field === "visits" ? { wins: Math.min(arm.wins, value) } : {}) } : arm)));
  const simulate = (count: number) => {
    let now = arms;
    let name = "";
    for (let n = 0; n < count; n += 1) {
      const all = now.reduce((sum, arm) => sum + arm.visits, 0);
      const of = (arm: Arm) => (rule === "ucb1" ? ucb1(arm, all, c) : puct(arm, all, c));
      const pick = now.reduce((a, b) => (of(b) > of(a) ? b : a));
      const won = Math.random() < TRUTH[pick.name]!;
      name = `${pick.name} ${won ? "won" : "lost"}`;
      now = now.map((arm) => (arm === pick ? { ...arm, visits: arm.visits + 1, wins: arm.wins + (won ? 1 : 0) } : arm));
    }
    setArms(now);
    setLast(count === 1 ? name : `${count} simulations`);
  };
  return (
    <div class="arms">
      <p class="formula">{rule === "ucb1" ? "score = w / n + c · √(ln N / n)" : "score = w / n + c · P · √N / (1 + n)"} &nbsp; N = {total}</p>
      <div class="scroll"><table class="moves">
        <thead><tr><th>move</th><th>visits n</th><th>wins w</th>{rule === "puct" && <th>prior P</th>}<th>w / n</th><th>exploration</th><th>score</th><th class="wide">share of the visits</th></tr></thead>
        <tbody>
          {arms.map((arm) => (
            <tr key={arm.name} class={arm === best ? "best" : ""}>
              <th scope="row">{arm.name}</th>
              <td><input type="number" min={0} max={100000} value={arm.visits} aria-label={`visits of ${arm.name}`} onInput={(event) => change(arm.name, "visits", Math.max(0, Number(event.currentTarget.value)))} /></td>
              <td><input type="number" min={0} max={arm.visits} value={arm.wins} aria-label={`wins of ${arm.name}`} onInput={(event) => change(arm.name, "wins", Math.min(arm.visits, Math.max(0, Number(event.currentTarget.value))))} /></td>
              {rule === "puct" && <td>{arm.prior}</td>}
              <td>{mean(arm).toFixed(6)}</td><td>{shown(score(arm) - mean(arm))}</td><td>{shown(score(arm))}</td>
              <td class="bar share"><span style={{ width: `${(100 * arm.visits) / Math.max(1, total)}%` }} />{((100 * arm.visits) / Math.max(1, total)).toFixed(1)}%</td>
            </tr>
          ))}
        </tbody>
      </table></div>
      <label class="slider"><span>c</span><input type="range" min={0} max={4} step={0.01} value={c} onInput={(event) => setC(Number(event.currentTarget.value))} /><output>{c.toFixed(2)}</output></label>
      <p aria-live="polite"><b>{best.name}</b> is searched next. {last && <small>Last: {last}.</small>}</p>
      <div class="buttons">
        {steps && <button onClick={() => simulate(1)}>One simulation</button>}
        {steps && <button onClick={() => simulate(100)}>100 simulations</button>}
        <button class="quiet" onClick={() => { setArms(START); setC(rule === "ucb1" ? Math.SQRT2 : 1); setLast(""); }}>Start again</button>
      </div>
    </div>
  );
}

const shown = (value: number) => (Number.isFinite(value) ? value.toFixed(6) : "∞");

function Fall() {
  const [visits, setVisits] = useState(10);
  return (
    <div class="arms">
      <Chart x={NUMBERS} xName="visits of the move, n" range={[0, 3.2]} height={180} marker={visits} onPick={(index) => setVisits(NUMBERS[index]!)}
        series={[{ name: "bonus", colour: COLOURS[0]!, values: NUMBERS.map(bonusOf), fill: true }]} />
      <label class="slider"><span>visits of a move, n</span><input type="range" min={1} max={100} value={visits} onInput={(event) => setVisits(Number(event.currentTarget.value))} /><output>{visits}</output></label>
      <p class="formula">1.414 · √(ln 100 / {visits}) = {bonusOf(visits).toFixed(6)}</p>
      <p>With 10 visits the bonus is {bonusOf(10).toFixed(6)}, with 5 it is {bonusOf(5).toFixed(6)}: half the visits, but only √2 times the bonus.</p>
    </div>
  );
}

const STEPS: { title: string; body: () => preact.JSX.Element }[] = [
  { title: "A tree of moves", body: () => <><Diagram phase="tree" /><p>A search builds a tree: the root is the position on the board, every edge a move, every node the position after it. A node counts its <b>visits</b> and adds up the results of the games that went through it, for the player who chose its move. Their mean is its <b>value</b>.</p><p>One pass through the tree is a <b>simulation</b>. It has four phases.</p></> },
  { title: "1. Selection", body: () => <><Diagram phase="selection" /><p>From the root down, the search chooses the child with the highest <b>score</b>: a good value, or few visits. That is the balance of every search: use what is known, and try what is not. Player 2 prefers what is good for player 2.</p></> },
  { title: "UCB1, with numbers", body: () => <><p>UCB1 adds a bonus to the mean, which falls with the visits of a move and grows slowly with N, the visits of all moves. Three moves after 100 simulations, with c = √2:</p><Arms rule="ucb1" /><p>B has won less often than A, but it was tried ten times only: 1.559705 is the highest score. Change the numbers, and see when A comes first. A move without visits has an infinite score, so every move is tried once.</p></> },
  { title: "How the bonus falls", body: () => <><p>The bonus of a move with N = 100 and c = 1.414:</p><Fall /></> },
  { title: "2. Expansion", body: () => <><Diagram phase="expansion" /><p>At the end of the path a new node is added: the position after one more move. With random games as evaluation, a leaf gets children on its second visit; with a network on its first, because the priors come with it.</p></> },
  { title: "3. Evaluation", body: () => <><Diagram phase="evaluation" /><p>How good is the new position? A <b>rollout</b> plays it to the end by random moves. A heuristic, or a network, judges it at once.</p></> },
  { title: "4. Backup", body: () => <><Diagram phase="backup" /><p>The result goes back along the path. Every node counts one more visit, and adds the result <b>for the player who chose it</b>: player 1 has won, so the nodes that player 1 chose gain a win, and that of player 2 does not.</p></> },
  { title: "PUCT: with a prior", body: () => <><p>A network also says which moves look good, before anything is searched: the prior P. PUCT spends its first visits on them; with c = 1:</p><Arms rule="puct" /><p>Here A comes first, with 0.878431: B has a prior of 0.1 only. A move without visits has a finite score, so a move with a small prior may wait for long.</p></> },
  { title: "Many simulations", body: () => <><p>Let it run. In truth B wins 80% of its games, A 70% and C 50%, which the search does not know. Watch how the visits follow:</p><Arms rule="ucb1" steps /></> },
  { title: "Your turn", body: () => <><p>Now watch a real search: play a game, analyse a position, walk through its tree, or see its first simulations one by one.</p><div class="buttons"><button class="primary" onClick={() => { void begin("tic_tac_toe").then(() => show("time")); }}>A search of tic-tac-toe, step by step</button><button onClick={() => { void begin("connect_four").then(() => show("analyse")); }}>Analyse Connect Four</button></div></> },
];

/** A tour of ten steps. */
export function Learn() {
  const [at, setAt] = useState(0);
  const step = STEPS[at]!;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (/INPUT|SELECT|TEXTAREA/.test((event.target as HTMLElement).tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) setAt((old) => Math.min(STEPS.length - 1, Math.max(0, old + by)));
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <article class="learn">
      <ol class="dots" aria-label="Steps of the tour">
        {STEPS.map((one, place) => <li key={place}><button class={place === at ? "now" : place < at ? "done" : ""} aria-current={place === at ? "step" : undefined} aria-label={one.title} title={one.title} onClick={() => setAt(place)} /></li>)}
      </ol>
      <h2>{step.title}</h2>
      <step.body key={at} />
      <div class="buttons tour">
        <button onClick={() => setAt(at - 1)} disabled={at === 0}>Back</button>
        <span>{at + 1} of {STEPS.length}</span>
        {at < STEPS.length - 1 ? <button class="primary" onClick={() => setAt(at + 1)}>Next</button> : <button class="primary" onClick={() => show("play")}>Finish</button>}
      </div>
    </article>
  );
}
