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
  parent: number; action: number; move: string; visits: number; value: number | null; prior: number; children: number;
  player: number | "chance" | "simultaneous" | null; terminal: boolean; proven: boolean; folded: boolean;
}
export interface Tree { path: number[]; moves: string[]; nodes: TreeNode[]; size: number; left: number }
export interface Level { move: string; rule?: string; rows?: [string, number, number | null, number | null, number | null][] }
export interface Simulation { path: string[]; levels: Level[]; new: boolean; value: number }
export interface Snapshot { visits: number; move: string; value: number; moves: [string, number, number | null][] }
export interface Recording {
  simulations: Simulation[]; snapshots: Snapshot[]; changes: number[]; config: string; seed: number;
}
export interface WhatIf {
  searches: { seed: number; move: string; value: number; moves: [string, number, number | null][] }[];
  move: string; same: number; of: number;
}
export interface GameEntry { name: string; summary: string; players: number }
export interface Info { version: string; game: string | null; model: string | null }
export type LiveEvent =
  | Session
  | Analysis
  | { type: "review"; done: number; total: number }
  | { type: "error"; error: string };

export class ServerError extends Error {}

async function call<T>(method: string, path: string, content?: unknown): Promise<T> {
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
  const found = (await answer.json().catch(() => ({ error: answer.statusText }))) as T & { error?: string };
  if (!answer.ok) throw new ServerError(found.error ?? answer.statusText);
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
