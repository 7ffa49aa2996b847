/** Records of games: lists of moves as text, with move numbers or without, and JSON with the fields game and moves. */

export interface GameRecord { game: string | null; moves: string[] }

const NOISE = /^(\d+\.+|1-0|0-1|1\/2-1\/2|\*)$/; // numbers of moves, and results

/** Return the game and the moves in a text. */
export function readRecord(text: string): GameRecord {
  const first = text.trim().split("\n")[0] ?? "";
  for (const part of [text, first]) {
    try {
      const content = JSON.parse(part) as { game?: unknown; moves?: unknown; line?: unknown };
      const moves = content.moves ?? content.line;
      if (Array.isArray(moves)) return { game: typeof content.game === "string" ? content.game : null, moves: moves.map(String) };
      if (typeof moves === "string") return { game: typeof content.game === "string" ? content.game : null, moves: moves.split(/\s+/).filter(Boolean) };
    } catch { /* no JSON: a list of moves */ }
  }
  const game = /^\s*game:\s*(\S+)/m.exec(text)?.[1] ?? null;
  const plain = text.replace(/^\s*game:.*$/gm, " ").replace(/\{[^}]*\}/g, " ").replace(/^\s*\[[^\]]*\]\s*$/gm, " ");
  return { game, moves: plain.split(/[\s,;]+/).map((token) => token.replace(/^\d+\.+(?=\S)/, "")).filter((token) => token && !NOISE.test(token)) };
}

/** Return the record of a game, as it can be read again. */
export const writeRecord = (game: string, moves: string[]): string => `game: ${game}\n${moves.join(" ")}\n`;

/** Offer a text as a file. */
export function save(name: string, type: string, text: string): void {
  const made = document.createElement("a");
  made.href = URL.createObjectURL(new Blob([text], { type }));
  made.download = name;
  made.click();
  URL.revokeObjectURL(made.href);
}
