import { useState } from "preact/hooks";
import { begin, show } from "../state";

interface Arm { name: string; visits: number; wins: number; prior: number }
const START: Arm[] = [
  { name: "A", visits: 50, wins: 40, prior: 0.4 },
  { name: "B", visits: 10, wins: 6, prior: 0.1 },
  { name: "C", visits: 40, wins: 20, prior: 0.5 },
];

export const mean = (arm: Arm) => arm.wins / Math.max(1, arm.visits);
export const ucb1 = (arm: Arm, total: number, c: number) => (arm.visits === 0 ? Infinity : mean(arm) + c * Math.sqrt(Math.log(total) / arm.visits));
export const puct = (arm: Arm, total: number, c: number) => mean(arm) + (c * arm.prior * Math.sqrt(total)) / (1 + arm.visits);

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
    const truth: Record<string, number> = { A: 0.7, B: 0.8, C: 0.5 };
    let name = "";
    for (let n = 0; n < count; n += 1) {
      const all = now.reduce((sum, arm) => sum + arm.visits, 0);
      const of = (arm: Arm) => (rule === "ucb1" ? ucb1(arm, all, c) : puct(arm, all, c));
      const pick = now.reduce((a, b) => (of(b) > of(a) ? b : a));
      const won = Math.random() < truth[pick.name]!;
      name = `${pick.name} ${won ? "won" : "lost"}`;
      now = now.map((arm) => (arm === pick ? { ...arm, visits: arm.visits + 1, wins: arm.wins + (won ? 1 : 0) } : arm));
    }
    setArms(now);
    setLast(count === 1 ? name : `${count} simulations`);
  };
  return (
    <div class="arms">
      <p class="formula">{rule === "ucb1" ? "score = w / n + c · √(ln N / n)" : "score = w / n + c · P · √N / (1 + n)"} &nbsp; N = {total}</p>
      <table class="moves">
        <thead><tr><th>move</th><th>visits n</th><th>wins w</th>{rule === "puct" && <th>prior P</th>}<th>w / n</th><th>exploration</th><th>score</th></tr></thead>
        <tbody>
          {arms.map((arm) => (
            <tr key={arm.name} class={arm === best ? "best" : ""}>
              <th scope="row">{arm.name}</th>
              <td><input type="number" min={0} max={100000} value={arm.visits} aria-label={`visits of ${arm.name}`} onInput={(event) => change(arm.name, "visits", Math.max(0, Number(event.currentTarget.value)))} /></td>
              <td><input type="number" min={0} max={arm.visits} value={arm.wins} aria-label={`wins of ${arm.name}`} onInput={(event) => change(arm.name, "wins", Math.min(arm.visits, Math.max(0, Number(event.currentTarget.value))))} /></td>
              {rule === "puct" && <td>{arm.prior}</td>}
              <td>{mean(arm).toFixed(6)}</td><td>{(score(arm) - mean(arm)).toFixed(6)}</td><td>{score(arm).toFixed(6)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label class="slider"><span>c</span><input type="range" min={0} max={4} step={0.01} value={c} onInput={(event) => setC(Number(event.currentTarget.value))} /><output>{c.toFixed(2)}</output></label>
      <p><b>{best.name}</b> is searched next. {last && <small>Last: {last}.</small>}</p>
      <div class="buttons">
        {steps && <button onClick={() => simulate(1)}>One simulation</button>}
        {steps && <button onClick={() => simulate(100)}>100 simulations</button>}
        <button class="quiet" onClick={() => { setArms(START); setC(rule === "ucb1" ? Math.SQRT2 : 1); setLast(""); }}>Start again</button>
      </div>
    </div>
  );
}

function Fall() {
  const [visits, setVisits] = useState(10);
  const bonus = 1.414 * Math.sqrt(Math.log(100) / visits);
  return (
    <div class="arms">
      <label class="slider"><span>visits of a move, n</span><input type="range" min={1} max={100} value={visits} onInput={(event) => setVisits(Number(event.currentTarget.value))} /><output>{visits}</output></label>
      <p class="formula">1.414 · √(ln 100 / {visits}) = {bonus.toFixed(6)}</p>
      <p>With 10 visits the bonus is 0.959560, with 5 it is 1.357023: half the visits, and only √2 times the bonus.</p>
    </div>
  );
}

function Diagram({ phase }: { phase: number }) {
  const nodes = [[120, 20], [60, 65], [120, 65], [180, 65], [90, 110], [150, 110], [150, 155]] as const;
  const edges = [[0, 1], [0, 2], [0, 3], [2, 4], [2, 5], [5, 6]] as const;
  const path = phase === 0 ? [0, 2, 5] : phase === 1 ? [5, 6] : phase === 2 ? [6] : [6, 5, 2, 0];
  return (
    <svg class="diagram" viewBox="0 0 240 180" role="img" aria-label="A small tree">
      {edges.map(([a, b]) => (b === 6 && phase === 0 ? null : <line key={`${a}${b}`} class={path.includes(a) && path.includes(b) ? "on" : ""} x1={nodes[a]![0]} y1={nodes[a]![1]} x2={nodes[b]![0]} y2={nodes[b]![1]} />))}
      {nodes.map(([x, y], place) => (place === 6 && phase === 0 ? null : <circle key={place} class={path.includes(place) ? "on" : ""} cx={x} cy={y} r={11} />))}
      {phase === 2 && <path class="rollout" d="M150 166 q-10 6 0 12" />}
      {phase >= 2 && <text x={170} y={158}>{phase === 2 ? "+1" : "+1 ↑"}</text>}
    </svg>
  );
}

const STEPS: { title: string; body: () => preact.JSX.Element }[] = [
  { title: "A tree of moves", body: () => <><Diagram phase={3} /><p>A search builds a tree: the root is the position on the board, every edge a move, every node the position after it. A node counts its <b>visits</b> and adds up the results of the games that went through it. Their mean is its <b>value</b>.</p><p>One pass through the tree is a <b>simulation</b>. It has four phases.</p></> },
  { title: "1. Selection", body: () => <><Diagram phase={0} /><p>From the root down, the search chooses the child with the highest <b>score</b>: a good value, or few visits. That is the balance of every search: use what is known, and try what is not.</p></> },
  { title: "UCB1, with numbers", body: () => <><p>UCB1 adds a bonus to the mean, which falls with the visits of a move and grows slowly with those of all moves. Three moves after 100 simulations:</p><Arms rule="ucb1" /><p>B has won less often than A, but it was tried ten times only: 1.559705 is the highest score. Change the numbers, and see when A comes first.</p></> },
  { title: "How the bonus falls", body: () => <><p>The bonus of a move with N = 100:</p><Fall /></> },
  { title: "2. Expansion", body: () => <><Diagram phase={1} /><p>At the end of the path a new node is added: the position after one more move.</p></> },
  { title: "3. Evaluation", body: () => <><Diagram phase={2} /><p>How good is the new position? A <b>rollout</b> plays it to the end by random moves. A heuristic, or a network, judges it at once.</p></> },
  { title: "4. Backup", body: () => <><Diagram phase={3} /><p>The result goes back along the path. Every node counts one more visit, and adds the result <b>for the player who chose it</b>: what is good for one side is bad for the other.</p></> },
  { title: "PUCT: with a prior", body: () => <><p>A network also says which moves look good, before anything is searched: the prior P. PUCT spends its first visits on them:</p><Arms rule="puct" /><p>Here A comes first, with 0.878431: B has a prior of 0.1 only.</p></> },
  { title: "Many simulations", body: () => <><p>Let it run. In truth B wins 80% of its games, A 70% and C 50%. Watch how the visits follow:</p><Arms rule="ucb1" steps /></> },
  { title: "Your turn", body: () => <><p>That is all. Now watch a real search: play a game, analyse a position, walk through its tree, or see its first simulations one by one.</p><div class="buttons"><button class="primary" onClick={() => { void begin("tic_tac_toe").then(() => show("time")); }}>A search of tic-tac-toe, step by step</button><button onClick={() => { void begin("connect_four").then(() => show("analyse")); }}>Analyse Connect Four</button></div></> },
];

/** A tour of ten steps. */
export function Learn() {
  const [at, setAt] = useState(0);
  const step = STEPS[at]!;
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
