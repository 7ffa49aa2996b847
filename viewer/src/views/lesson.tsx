/** One simulation in a small tree, drawn phase by phase. All scores are computed from the numbers in the nodes. */

export interface Arm { name: string; visits: number; wins: number; prior: number }

export const mean = (arm: { wins: number; visits: number }) => arm.wins / Math.max(1, arm.visits);
/** UCB1: the mean, and a bonus that falls with the visits. A move without visits comes first. */
export const ucb1 = (arm: { wins: number; visits: number }, total: number, c: number) => (arm.visits === 0 ? Infinity : mean(arm) + c * Math.sqrt(Math.log(total) / arm.visits));
/** PUCT: the mean, and a bonus in proportion to the prior; finite without visits. */
export const puct = (arm: Arm, total: number, c: number) => mean(arm) + (c * arm.prior * Math.sqrt(Math.max(1, total))) / (1 + arm.visits);

interface Node { parent: number; x: number; y: number; wins: number; visits: number; chooser: 0 | 1 | null }

/** The wins of a node are those of the player who chose its move; visits are its own one and those of its children. */
const TREE: Node[] = [
  { parent: -1, x: 220, y: 36, wins: 0, visits: 12, chooser: null },
  { parent: 0, x: 80, y: 126, wins: 0, visits: 2, chooser: 0 },
  { parent: 0, x: 220, y: 126, wins: 5, visits: 6, chooser: 0 },
  { parent: 0, x: 360, y: 126, wins: 1, visits: 3, chooser: 0 },
  { parent: 2, x: 160, y: 216, wins: 0, visits: 4, chooser: 1 },
  { parent: 2, x: 280, y: 216, wins: 1, visits: 1, chooser: 1 },
];
const NEW: Node = { parent: 5, x: 280, y: 306, wins: 0, visits: 0, chooser: 0 };
const RESULT = 0; // the player who wins the rollout

const below = (index: number) => TREE.flatMap((node, place) => (node.parent === index ? [place] : []));
const totalBelow = (index: number) => below(index).reduce((sum, place) => sum + TREE[place]!.visits, 0);
export const scoreOf = (index: number) => ucb1(TREE[index]!, totalBelow(TREE[index]!.parent), Math.SQRT2);

/** The path that UCB1 selects from the root: the child with the highest score, until a node has none. */
export function selected(): number[] {
  const path = [0];
  for (let children = below(0); children.length; children = below(path[path.length - 1]!))
    path.push(children.reduce((a, b) => (scoreOf(b) > scoreOf(a) ? b : a)));
  return path;
}

export type Phase = "tree" | "selection" | "expansion" | "evaluation" | "backup";

export function Diagram({ phase }: { phase: Phase }) {
  const path = phase === "tree" ? [] : selected();
  const grown = phase === "expansion" || phase === "evaluation" || phase === "backup";
  const nodes = grown ? [...TREE, NEW] : TREE;
  const onPath = (index: number) => (index === TREE.length ? phase !== "tree" : path.includes(index) && (phase === "selection" || phase === "backup"));
  const counted = (node: Node, index: number) => {
    const hit = phase === "backup" && onPath(index);
    const won = hit && node.chooser === RESULT ? 1 : 0;
    return node.chooser === null ? String(node.visits + Number(hit)) : `${node.wins + won}/${node.visits + Number(hit)}`;
  };
  const summary = phase === "tree" ? "A tree: a root with three moves, one of them with two replies" : `The ${phase} of one simulation, along the path to the right reply of the middle move`;
  return (
    <figure class="lesson">
      <svg viewBox="0 0 440 372" role="img" aria-label={summary}>
        {nodes.map((node, index) => {
          const parent = TREE[node.parent];
          if (!parent) return null;
          const on = onPath(index) && (onPath(node.parent) || index === TREE.length);
          return <line key={index} class={on ? "on" : ""} x1={parent.x} y1={parent.y} x2={node.x} y2={node.y} />;
        })}
        {phase === "selection" && nodes.map((node, index) => (node.parent === 0 || node.parent === 2 ? <text key={index} class={onPath(index) ? "score on" : "score"} x={node.x + (node.x > 220 ? 48 : -48)} y={node.y}>{scoreOf(index).toFixed(3)}</text> : null))}
        {phase === "evaluation" && <path class="rollout" d={`M${NEW.x} ${NEW.y + 24}q-12 6 0 12t0 12`} />}
        {phase === "evaluation" && <text class="score on" x={NEW.x + 84} y={NEW.y + 44}>player 1 wins</text>}
        {nodes.map((node, index) => (
          <g key={index} class={`${onPath(index) ? "on" : ""} ${node.chooser === null ? "root" : `chosen${node.chooser}`}`}>
            <circle cx={node.x} cy={node.y} r={22} />
            <text x={node.x} y={node.y}>{counted(node, index)}</text>
            {phase === "backup" && onPath(index) && <text class="plus" x={node.x + 46} y={node.y}>{node.chooser === null ? "+1 visit" : node.chooser === RESULT ? "+1 / +1" : "+0 / +1"}</text>}
          </g>
        ))}
      </svg>
      <figcaption><span><i class="chosen0" /> chosen by player 1</span><span><i class="chosen1" /> chosen by player 2</span><span>wins / visits of the player who chose</span></figcaption>
    </figure>
  );
}
