/** The server's answers, and the calls that ask for them. */

export interface Grid {
  kind: "grid";
  rows: string[][];
  shape: "square" | "hex";
  surface: "plain" | "checkered" | "lines" | "holes";
  pieces: "discs" | "marks" | "tiles" | "text";
  cell_names: string[][];
  edges: string[];
}
export interface Card { face: string; name: string; note: string }
export interface Cards { kind: "cards"; cards: Card[]; title: string }
export interface Dice { kind: "dice"; values: number[]; title: string; name: string }
export interface Pile { count: number; piece: string; name: string }
export interface Piles { kind: "piles"; rows: Pile[][]; title: string; style: "heaps" | "points" }
export interface Track { kind: "track"; markers: Record<string, number>; length: number; title: string }
export interface Shape {
  kind: "circle" | "line" | "box" | "text";
  x: number; y: number; width: number; height: number; text: string; player: number; name: string;
}
export interface Shapes { kind: "shapes"; width: number; height: number; shapes: Shape[]; title: string }
export interface Table { kind: "table"; rows: Record<string, string>; title: string }
export interface Text { kind: "text"; text: string }
export type Part = Grid | Cards | Dice | Piles | Track | Shapes | Table | Text;

export interface Legal { action: number; move: string; path: string[]; probability?: number }
export interface Position {
  game: string;
  players: number;
  player: number | "chance" | "simultaneous" | null;
  moves: string[];
  ply: number;
  over: boolean;
  returns: number[] | null;
  legal: Legal[];
  board: Part[];
  text: string;
}
export interface Session {
  type: "position";
  session: string;
  /** Null while it would show what is hidden. */
  seed: number | null;
  people: number[];
  position: Position;
  line: string[];
  ply: number;
  plies: number;
  thinking: boolean;
  /** Whether the search waits for its game to be compiled. */
  preparing?: boolean;
}
export interface MoveInfo {
  move: string;
  order: number;
  visits: number;
  share: number;
  prior: number | null;
  utility: number | null;
  winrate: number | null;
  lcb: number | null;
  exploration: number | null;
  score: number | null;
  closed: boolean;
  bounds?: [number, number];
  proven?: number;
  pv: string[];
}
export interface Analysis {
  type: "analysis";
  over: boolean;
  ply: number;
  move: string;
  why: string;
  rule: string;
  selected: string;
  moves: MoveInfo[];
  finals: QuickSearch["finals"];
  root: { currentPlayer: number; visits: number; utility: number; winrate: number; proven?: { outcome?: string } };
  simulations: number;
  nodes: number;
  config: string;
  seed: number;
}
export interface ReviewRow {
  ply: number; player: number; move: string; best: string; winrate: number; bestWinrate: number; loss: number;
  values: number[]; pv: string[];
}
export interface Review { rows: ReviewRow[]; total: number; over: boolean }
export interface TreeNode {
  parent: number; action: number; move: string; visits: number; value: number | null; deviation: number | null; prior: number; children: number;
  player: number | "chance" | "simultaneous" | null; terminal: boolean; proven: boolean; folded: boolean;
}
export interface Tree { path: number[]; moves: string[]; nodes: TreeNode[]; size: number; left: number; range: [number, number] }
export interface Level {
  move: string; player: number | "chance" | "simultaneous" | null;
  /** Visits and sum of the node, for the player who chose it, before and after the simulation. */
  before: [number, number]; after: [number, number];
  rule?: string;
  /** Of each move: its name, visits, mean, exploration, score, prior. */
  rows?: [string, number, number | null, number | null, number | null, number | null][];
}
export interface Simulation { path: string[]; levels: Level[]; new: boolean; value: number; values: number[] }
export interface Snapshot { visits: number; move: string; value: number; moves: [string, number, number | null][] }
export interface Recording {
  simulations: Simulation[]; snapshots: Snapshot[]; changes: number[]; config: string; seed: number;
}
/** The move that a final rule chooses, and why; null where it cannot decide. */
export interface Decision { move: string | null; why: string }
export type FinalRule = "visits" | "value" | "secure" | "lcb" | "temperature" | "mixed";
export interface QuickSearch {
  seed: number; move: string; value: number;
  /** Of each move: its name, visits, mean, standard deviation, prior. */
  moves: [string, number, number | null, number | null, number | null][];
  /** A mixed strategy only where the rule has one. */
  finals: Record<Exclude<FinalRule, "mixed">, Decision> & { mixed?: Decision };
}
export interface WhatIf {
  searches: QuickSearch[]; move: string; same: number; of: number;
  settings: { rule: string; final: FinalRule; evaluator: string; adjustable: string[]; range: [number, number]; c: number | null; fpu: number | string | null; prior_temperature: number | null };
  rules: { name: string; rule: string | null }[];
}
/** A parameter of a game, with its range or its choices where they are known. */
export interface Parameter {
  name: string; kind: "whole" | "number" | "flag" | "text"; default: number | boolean | string; low?: number; high?: number; choices?: string[];
}
export interface GameEntry { name: string; summary: string; players: number; setup: boolean; parameters: Parameter[] }
export interface Info { version: string; game: string | null; model: string | null; theorem: string | null }
export type LiveEvent =
  | Session
  | Analysis
  | { type: "review"; done: number; total: number }
  | { type: "error"; error: string };

/** An error of a request; `answer` has what the server says beside the message. */
export class ServerError extends Error {
  constructor(message: string, readonly answer: { position?: number | null; shown?: string } = {}) {
    super(message);
  }
}

export async function call<T>(method: string, path: string, content?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: content === undefined ? {} : { "content-type": "application/json" },
      body: content === undefined ? undefined : JSON.stringify(content),
    });
  } catch {
    throw new ServerError("The server does not answer. Is `treetop serve` still running?");
  }
  const found = (await answer.json().catch(() => ({ error: answer.statusText }))) as T & { error?: string; position?: number; shown?: string };
  if (!answer.ok) throw new ServerError(found.error ?? answer.statusText, found);
  return found;
}

const of = (session: string, what: string) => `/api/sessions/${encodeURIComponent(session)}${what}`;

export const api = {
  info: () => call<Info>("GET", "/api/info"),
  games: () => call<{ games: GameEntry[] }>("GET", "/api/games"),
  begin: (content: object) => call<Session>("POST", "/api/sessions", content),
  close: (session: string) => call<object>("DELETE", of(session, "")),
  play: (session: string, move: string) => call<Session>("POST", of(session, "/play"), { move }),
  go: (session: string, ply: number) => call<Session>("POST", of(session, "/go"), { ply }),
  follow: (session: string, moves: string[], ply: number) => call<Session>("POST", of(session, "/line"), { moves, ply }),
  think: (session: string, content: object) => call<Session>("POST", of(session, "/think"), content),
  stop: (session: string) => call<Session>("POST", of(session, "/stop"), {}),
  review: (session: string, content: object) => call<{ total: number }>("POST", of(session, "/review"), content),
  readReview: (session: string) => call<Review>("GET", of(session, "/review")),
  tree: (session: string, path: number[], nodes: number) =>
    call<Tree>("GET", of(session, `/tree?path=${path.join(",")}&nodes=${nodes}`)),
  record: (session: string, content: object) => call<Recording>("POST", of(session, "/record"), content),
  whatIf: (session: string, content: object) => call<WhatIf>("POST", of(session, "/what-if"), content),
};

/** Listen to the events of a session; the returned function ends it. A lost connection is made again. */
export function listen(session: string, take: (event: LiveEvent) => void): () => void {
  let ended = false;
  let socket: WebSocket | undefined;
  const connect = () => {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}${of(session, "/live")}`);
    socket.onmessage = (message) => take(JSON.parse(message.data as string) as LiveEvent);
    socket.onclose = () => {
      if (!ended) setTimeout(connect, 1000);
    };
  };
  connect();
  return () => {
    ended = true;
    socket?.close();
  };
}
