/** The tree as rows of boxes: where each box lies, what colour it has, and how it is drawn. */

import type { Tree, TreeNode } from "../api";
import { valueColour } from "../board/Grid";

export const ROW = 28;
export type Shade = "value" | "visits" | "uncertainty" | "prior";

export interface Box { node: TreeNode; index: number; x: number; width: number; depth: number; path: number[]; key: string; rate: number | null; error: number }
export interface Zoom { left: number; scale: number }

/** Lay the nodes out, parents first; children of folded nodes are left out. */
export function layout(tree: Tree, folded: Set<string>): Box[] {
  const found: (Box | undefined)[] = [];
  const used: number[] = [];
  const [low, high] = tree.range;
  const flips = Math.abs(low + high) < 1e-9; // the loss of one is the gain of the other
  const viewer = tree.nodes[0]?.player;
  const sums = new Map<number, number>(); // in a graph, children have visits from other parents too
  for (const { parent, visits } of tree.nodes) sums.set(parent, (sums.get(parent) ?? 0) + visits);
  tree.nodes.forEach((node, index) => {
    const parent = found[node.parent];
    used.push(0);
    if (node.parent >= 0 && (!parent || folded.has(parent.key))) {
      found.push(undefined);
      return;
    }
    const chooser = parent?.node.player;
    const own = node.value === null ? null : Math.min(1, Math.max(0, (node.value - low) / (high - low)));
    const rate = own !== null && flips && typeof chooser === "number" && chooser !== viewer ? 1 - own : own;
    const error = (node.deviation ?? (high - low) / 2) / Math.sqrt(Math.max(1, node.visits)) / (high - low);
    const path = parent ? [...parent.path, node.action] : [];
    const width = parent ? (parent.width * node.visits) / Math.max(1, parent.node.visits, sums.get(node.parent)!) : 1;
    found.push({
      node, index, rate, error, width, x: parent ? parent.x + used[node.parent]! : 0, depth: parent ? parent.depth + 1 : 0,
      path, key: path.join(","),
    });
    if (parent) used[node.parent]! += width;
  });
  return found.filter((box): box is Box => box !== undefined);
}

/** Return the colour of a box, and how light it is, from 0 to 100. */
export function shadeOf(box: Box, shade: Shade, total: number): [string, number] {
  if (shade === "value") return box.rate === null ? ["hsl(210 6% 44%)", 44] : [valueColour(box.rate, "38%"), 38];
  const strength = shade === "visits" ? Math.log1p(box.node.visits) / Math.log1p(total)
    : shade === "uncertainty" ? Math.min(1, Math.sqrt(4 * box.error)) : Math.sqrt(box.node.prior);
  const light = 88 - 58 * strength;
  return [`hsl(${shade === "uncertainty" ? "268 34%" : "205 42%"} ${light.toFixed(0)}%)`, light];
}

interface Picture { boxes: Box[]; zoom: Zoom; shade: Shade; chosen: string; folded: Set<string>; marked: Set<number> | null }

/** Draw the boxes that can be seen. */
export function paint(canvas: HTMLCanvasElement, { boxes, zoom, shade, chosen, folded, marked }: Picture): void {
  const { context, width, ink } = prepare(canvas);
  const total = boxes[0]?.node.visits ?? 1;
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const box of boxes) {
    const x = (box.x - zoom.left) * zoom.scale * width;
    const w = box.width * zoom.scale * width;
    if (x > width || x + w < 0 || w < 0.7) continue;
    const { node } = box;
    const y = box.depth * ROW;
    const [colour, light] = shadeOf(box, shade, total);
    context.globalAlpha = marked && !marked.has(box.index) ? 0.25 : 1;
    context.fillStyle = colour;
    context.fillRect(x + 0.5, y + 0.5, Math.max(0.5, w - 1), ROW - 1.5);
    if (node.player === "chance" || node.player === "simultaneous") stripes(context, Math.max(0, x), y, Math.min(width, x + w), light);
    if (node.proven || node.terminal) {
      context.fillStyle = node.proven ? "#f2c14e" : light > 55 ? "#000000a0" : "#ffffffb0";
      context.fillRect(x + 1, y + ROW - 5, Math.max(1, w - 2), 3);
    }
    if (w > 24) label(context, box, Math.max(0, x), y, Math.min(x + w, width) - Math.max(0, x), light, folded.has(box.key));
    if (chosen === box.key) {
      context.strokeStyle = ink;
      context.lineWidth = 2.5;
      context.strokeRect(x + 1.5, y + 1.5, Math.max(1, w - 3), ROW - 4);
    }
  }
  context.globalAlpha = 1;
}

/** Draw the whole tree small, with a frame around what the large picture shows. */
export function paintSmall(canvas: HTMLCanvasElement, { boxes, zoom, shade }: Picture): void {
  const { context, width, height, ink } = prepare(canvas);
  const deepest = Math.max(1, ...boxes.map((box) => box.depth + 1));
  const row = height / deepest;
  const total = boxes[0]?.node.visits ?? 1;
  for (const box of boxes) {
    if (box.width * width < 0.3) continue;
    context.fillStyle = shadeOf(box, shade, total)[0];
    context.fillRect(box.x * width, box.depth * row, Math.max(0.5, box.width * width - 0.3), Math.max(1, row - 0.5));
  }
  context.strokeStyle = ink;
  context.lineWidth = 2;
  context.strokeRect(zoom.left * width + 1, 1, width / zoom.scale - 2, height - 2);
}

function prepare(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number; ink: string } {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  return { context, width, height, ink: getComputedStyle(canvas).getPropertyValue("--ink") };
}

function stripes(context: CanvasRenderingContext2D, from: number, y: number, to: number, light: number): void {
  context.fillStyle = light > 55 ? "#00000022" : "#ffffff38";
  for (let at = from; at < to; at += 6) context.fillRect(at, y + 1, 2, ROW - 3);
}

function label(context: CanvasRenderingContext2D, box: Box, x: number, y: number, width: number, light: number, isFolded: boolean): void {
  if (width < 12) return;
  context.save();
  context.beginPath();
  context.rect(x + 3, y, width - 6, ROW);
  context.clip();
  context.fillStyle = light > 55 ? "#1d2125" : "#ffffff";
  const text = `${isFolded ? "▸ " : ""}${box.node.move || "root"}`;
  const rate = box.rate === null ? "" : `  ${Math.round(100 * box.rate)}%`;
  context.fillText(width > 120 ? `${text}  ${box.node.visits.toLocaleString("en")}${rate}` : width > 62 ? `${text}${rate}` : text, x + 5, y + ROW / 2);
  context.restore();
}
