/** Moves are made by touching named things one after the other: which moves are still meant, and which names continue. */

import { signal } from "@preact/signals";
import type { Legal } from "../api";
import { isMyTurn, legal, play, session, view } from "../state";

/** The names touched so far. */
export const touched = signal<string[]>([]);
/** Moves of which one must be chosen, where the touches do not decide. */
export const ambiguous = signal<Legal[]>([]);

const starts = (move: Legal, names: string[]) => names.every((name, place) => move.path[place] === name);

/** In Play a move is made at the end of the game; elsewhere also before, which tries a variation. */
export const canMoveHere = () => view.value !== "play" || session.value?.ply === session.value?.plies;

/** The names that a next touch may have. */
export function nextNames(): Set<string> {
  if (!isMyTurn.value || !canMoveHere()) return new Set();
  const place = touched.value.length;
  return new Set(legal.value.filter((move) => starts(move, touched.value)).flatMap((move) => move.path[place] ?? []));
}

export function clear(): void {
  touched.value = [];
  ambiguous.value = [];
}

export function touch(name: string): void {
  if (!isMyTurn.value || !canMoveHere()) return;
  ambiguous.value = [];
  let names = [...touched.value, name];
  let meant = legal.value.filter((move) => starts(move, names));
  if (!meant.length) {
    if (touched.value[0] === name) return clear();
    names = [name];
    meant = legal.value.filter((move) => starts(move, names));
  }
  if (!meant.length) return clear();
  const complete = meant.filter((move) => move.path.length === names.length);
  if (complete.length === meant.length && meant.length === 1) {
    clear();
    void play(meant[0]!.move);
  } else if (complete.length === meant.length) {
    touched.value = names;
    ambiguous.value = meant;
  } else touched.value = names;
}
