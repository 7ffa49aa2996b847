/** What the server says of the folder of --runs: training runs, matches, tournaments and evaluations. */

import { call, type Session } from "../api";

export interface Row {
  id: string; name: string; kind: string; ago: number; game: string; state: "" | "running" | "finished" | "stopped" | "ended";
  progress: number | null; result: string; amount: string; error: string | null;
}
export interface List { folder: string | null; entries: Row[]; waiting: number; cut: boolean }
export interface Line { name: string; values: (number | null)[]; low?: (number | null)[]; high?: (number | null)[] }
export interface Level { name: string; value: number }
/** Lines over x, or rows of values with intervals. */
export interface Figure {
  title: string; unit: string; xName?: string; x?: number[]; series?: Line[]; levels?: Level[]; range?: [number, number];
  rows?: { name: string; value: number | null; low: number | null; high: number | null }[];
}
export interface Table { title: string; head: string[]; rows: string[][]; links?: (string | null)[][] }
export interface Detail extends Row {
  title?: string; facts?: Record<string, string>; charts?: Figure[]; tables?: Table[]; games?: number;
  parts?: { id: string; title: string; amount: string; result: string }[]; tournament?: string | null;
}
export interface GamesPage { head: string[]; numbers: number[]; rows: string[][]; total: number }
export interface RecordedGame {
  number: number; seats: string[]; game: string; facts: Record<string, string>; opening: string[]; moves: string[];
}
export interface Replay { session: Session; opening: number; left: number }

const of = (entry: string, what = "") => `/api/runs/${encodeURIComponent(entry)}${what}`;

export const runsApi = {
  list: () => call<List>("GET", "/api/runs"),
  version: (entry: string) => call<{ list: string; entry: string }>("GET", `/api/runs/version${entry ? `?entry=${encodeURIComponent(entry)}` : ""}`),
  detail: (entry: string) => call<Detail>("GET", of(entry)),
  games: (entry: string, first: number, count: number) => call<GamesPage>("GET", of(entry, `/games?first=${first}&count=${count}`)),
  game: (entry: string, number: number) => call<RecordedGame>("GET", of(entry, `/games/${number}`)),
  replay: (entry: string, number: number) => call<Replay>("POST", of(entry, `/games/${number}/replay`)),
};
