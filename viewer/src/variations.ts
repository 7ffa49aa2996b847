/** Variations of a game: lines that were tried, while the moves of the game itself are kept. */

import { signal } from "@preact/signals";
import type { Session } from "./api";

/** A line that leaves the game after `at` moves. */
export interface Variation { at: number; moves: string[] }

/** The moves of the game, while another line is shown; null where the game itself is shown or nothing was tried. */
export const mainLine = signal<string[] | null>(null);
export const variations = signal<Variation[]>([]);

export function forget(): void {
  mainLine.value = null;
  variations.value = [];
}

/** How many moves two lines have in common. */
export function common(a: string[], b: string[]): number {
  const at = a.findIndex((move, place) => move !== b[place]);
  return at < 0 ? a.length : at;
}

/** Take note of a move that leaves the game, or goes on with a variation. */
export function branch(before: Session, after: Session): void {
  const main = mainLine.value ?? before.line;
  const at = common(main, after.line);
  if (at === main.length || at === after.line.length) return; // the game goes on
  mainLine.value = main;
  const moves = after.line.slice(at);
  const rest = variations.value.filter((one) => one.at !== at || common(one.moves, moves) < Math.min(one.moves.length, moves.length));
  variations.value = [...rest, { at, moves }];
}
