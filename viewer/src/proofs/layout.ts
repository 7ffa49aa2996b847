/** The graph of a proof search as a tree of items, and where they are drawn: from top to bottom, a row for each level. */

import type { Part, ProofNode } from "./search";

export interface Item {
  node: ProofNode;
  key: string;
  parent: Item | null;
  children: Item[];
  level: number;
  /** Below a folded item. */
  folded: boolean;
  /** The middle of its upper edge. */
  x: number;
  y: number;
  width: number;
}

export const HEIGHT = 24;
const BELOW = { goal: 38, tactic: 50 }; // from an item to those below it
const GAP = 14; // between items of a level
const LETTER = 7.25; // the width of a letter of the drawing
const SIGN = 26; // the width of the sign before the text
const MORE = 24; // the width of the number of what is left out
const WIDEST = { theorem: 480, goal: 216, tactic: 150 };

/** Return the items that are shown, parents first; the tactics of a goal as they were tried, that of the proof first, those that failed last. */
export function build(part: Part, folded: ReadonlySet<string>): Item[] {
  const all: Item[] = [];
  part.nodes.forEach((node) => {
    const parent = all[node.parent] ?? null;
    const key = node.kind === "tactic" ? `t${goalOf(parent)}.${node.order}`
      : node.again === null ? `g${node.id}` : `r${parent?.key}.${node.id}`;
    const item: Item = { node, key, parent, children: [], level: parent ? parent.level + 1 : 1, folded: folded.has(key), x: 0, y: 0, width: 0 };
    parent?.children.push(item);
    all.push(item);
  });
  for (const item of all)
    if (item.node.kind === "goal") item.children.sort((a, b) => orderOf(a) - orderOf(b));
  const shown: Item[] = [];
  const pending = all.slice(0, 1);
  while (pending.length) {
    const item = pending.pop()!;
    shown.push(item);
    if (!item.folded) pending.push(...[...item.children].reverse());
  }
  return shown;
}

const goalOf = (item: Item | null) => (item?.node.kind === "goal" ? item.node.id : 0);
const LAST = 1_000_000;
const orderOf = ({ node }: Item) => (node.kind === "goal" || node.proof ? -1 : node.failed ? node.order + LAST : node.order);

/** Return the text of an item as it is drawn, with a sign where it stands for another place. */
export function label(node: ProofNode): string {
  if (node.kind === "tactic") return node.backward ? `↺ ${node.text}` : node.text;
  return node.again === null ? node.text : `${node.cycle ? "↺" : "↪"} ${node.text}`;
}

/** The bounds of a subtree on each of its levels, relative to its top item. */
interface Outline { left: number[]; right: number[] }

/** Give the items their places; return the size of the drawing. Items come as `build` returns them. */
export function arrange(items: Item[]): { width: number; height: number } {
  const outlines = new Map<Item, Outline>();
  const shifts = new Map<Item, number>();
  for (const item of items) item.width = Math.min(WIDEST[item.parent ? item.node.kind : "theorem"], Math.ceil(SIGN + 10 + LETTER * label(item.node).length));
  for (const item of [...items].reverse()) outlines.set(item, packed(item, outlines, shifts));
  for (const item of items) {
    item.x = item.parent ? item.parent.x + shifts.get(item)! : 0;
    item.y = item.parent ? item.parent.y + BELOW[item.parent.node.kind] : 0;
  }
  const left = Math.min(...items.map((item) => item.x - item.width / 2));
  for (const item of items) item.x -= left;
  return { width: Math.max(...items.map((item) => item.x + item.width / 2)), height: Math.max(...items.map((item) => item.y)) + HEIGHT };
}

/** Put the subtrees of an item side by side, as close as they can be. A goal stands above its first tactic, a tactic above the middle of its goals. */
function packed(item: Item, outlines: Map<Item, Outline>, shifts: Map<Item, number>): Outline {
  const own = { left: [-item.width / 2], right: [item.width / 2 + (hidden(item) ? MORE : 0)] };
  const below = item.folded ? [] : item.children;
  if (!below.length) return own;
  const left: number[] = [];
  const right: number[] = [];
  const places: number[] = [];
  for (const child of below) {
    const outline = outlines.get(child)!;
    const place = outline.left.reduce((most, edge, level) => Math.max(most, (right[level] ?? -Infinity) + GAP - edge), places.length ? -Infinity : 0);
    places.push(place);
    outline.left.forEach((edge, level) => {
      left[level] = Math.min(left[level] ?? Infinity, edge + place);
      right[level] = Math.max(right[level] ?? -Infinity, outline.right[level]! + place);
    });
  }
  const middle = item.node.kind === "goal" ? places[0]! : (places[0]! + places[places.length - 1]!) / 2;
  below.forEach((child, place) => shifts.set(child, places[place]! - middle));
  return { left: [...own.left, ...left.map((edge) => edge - middle)], right: [...own.right, ...right.map((edge) => edge - middle)] };
}

/** Return a sign for what is not shown below an item: it is folded, or the server has not sent all of it. */
export function hidden(item: Item): string {
  if (item.folded) return "▸";
  return item.node.kind === "goal" && item.node.left ? `+${item.node.left}` : "";
}

/** Return as much of a text as an item has space for. Of a goal the conclusion is more important than the hypotheses. */
export function fitting(item: Item): string {
  const text = label(item.node);
  const most = Math.floor((item.width - SIGN - 8) / LETTER);
  if (text.length <= most) return text;
  const from = text.lastIndexOf(" |- ");
  const first = most - (text.length - from) - 1;
  if (from >= 0 && first >= 4) return `${text.slice(0, first)}…${text.slice(from)}`;
  const shown = from < 0 ? text : `…${text.slice(from)}`;
  return shown.length <= most ? shown : `${shown.slice(0, most - 1)}…`;
}

/** Return the child that a walk takes first: that of the proof, or else the most visited one. */
export function favourite(item: Item): Item | undefined {
  return item.children.find((below) => below.node.proof) ?? [...item.children].sort((a, b) => b.node.visits - a.node.visits)[0];
}
