/** The item that is chosen, what is folded, and the keys that walk. The drawing and the outline share them. */

import { computed, signal } from "@preact/signals";
import { arrange, build, favourite, type Item } from "./layout";
import { part, walk, type ProofNode } from "./search";

export const folded = signal<ReadonlySet<string>>(new Set());
const wanted = signal("g0");

const drawn = computed(() => {
  const found = part.value?.nodes.length ? build(part.value, folded.value) : [];
  return { items: found, size: found.length ? arrange(found) : { width: 1, height: 1 } };
});
export const items = computed<Item[]>(() => drawn.value.items);
export const size = computed(() => drawn.value.size);
export const chosen = computed<Item | undefined>(() => items.value.find((item) => item.key === wanted.value) ?? items.value[0]);

export const choose = (item: Item | null | undefined) => { if (item) wanted.value = item.key; };

export function restart(): void {
  folded.value = new Set();
  wanted.value = "g0";
}

export function fold(item: Item, on = !item.folded): void {
  const next = new Set(folded.value);
  if (on && item.children.length) next.add(item.key);
  else next.delete(item.key);
  folded.value = next;
}

/** Show the tactics of a goal: where it appears first, or as the root of the drawing. */
export function open(item: Item): void {
  const { node } = item;
  if (node.kind !== "goal") return;
  if (node.again !== null) {
    const main = items.value.find((other) => other.key === `g${node.id}`);
    if (main) return choose(main);
  }
  wanted.value = `g${node.id}`;
  void walk(node.id);
}

/** Return to the goal above the root of the drawing. */
export function up(): void {
  const above = part.value?.path[part.value.path.length - 1];
  if (above) {
    wanted.value = `g${above.id}`;
    void walk(above.id);
  }
}

/** Fold or unfold; a goal that is listed elsewhere, or has more to show, is opened instead. */
function enter(item: Item): void {
  if (item.children.length) fold(item);
  else if (item.node.kind === "goal" && (item.node.again !== null || item.node.left)) open(item);
}

/** Return the item to walk to from an item; a folded one is unfolded first. */
function below(item: Item): Item | undefined {
  if (!item.folded) return favourite(item);
  fold(item, false);
  return undefined;
}

/** Walk in the drawing: down to the goals and tactics below, left and right within a level. */
export function keysOfDrawing(event: KeyboardEvent): void {
  const item = chosen.value;
  if (!item) return;
  const level = items.value.filter((other) => other.level === item.level).sort((a, b) => a.x - b.x);
  const place = level.indexOf(item);
  press(event, item, { ArrowUp: () => item.parent, ArrowDown: () => below(item), ArrowLeft: () => level[place - 1], ArrowRight: () => level[place + 1] });
}

/** Walk in the outline: up and down by rows, right to what is below. */
export function keysOfOutline(event: KeyboardEvent): void {
  const item = chosen.value;
  if (!item) return;
  const place = items.value.indexOf(item);
  press(event, item, { ArrowUp: () => items.value[place - 1], ArrowDown: () => items.value[place + 1], ArrowLeft: () => item.parent, ArrowRight: () => below(item) });
}

function press(event: KeyboardEvent, item: Item, ways: Record<string, () => Item | null | undefined>): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event;
  if (key === "Enter" || key === " ") enter(item);
  else if (key === "Backspace") up();
  else if (key === "Home") choose(items.value[0]);
  else if (key === "o") open(item);
  else if (ways[key]) choose(ways[key]());
  else return;
  event.preventDefault();
}

export const SIGNS = { proved: "✓", dead: "✗", open: "○" } as const;

/** Say what an item is, in one line. */
export function describe(node: ProofNode): string {
  const kind = node.kind === "goal" ? `Goal ${node.id}` : "Tactic";
  const marks = node.kind === "goal"
    ? [node.again !== null && (node.cycle ? "the same goal as one above it" : "listed elsewhere")]
    : [node.failed && "does not apply", node.backward && "part of a cycle"];
  return [`${kind}: ${node.text}`, node.status, node.proof && "part of the proof", ...marks, `${node.visits} visits`].filter(Boolean).join(", ");
}
