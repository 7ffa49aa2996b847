/** What the page shows: one game, its search, and the settings. */

import { computed, signal } from "@preact/signals";
import { runsApi } from "./views/runs-api";
import { api, listen, type Analysis, type GameEntry, type Info, type Legal, type LiveEvent, type Review, type Session } from "./api";
import { branch, forget } from "./variations";

export const VIEWS = ["play", "analyse", "review", "tree", "time", "whatif", "proofs", "runs", "learn"] as const;
export type View = (typeof VIEWS)[number];

export const info = signal<Info | null>(null);
export const games = signal<GameEntry[]>([]);
export const session = signal<Session | null>(null);
export const analysis = signal<Analysis | null>(null);
/** The value and the share of each move as the search went on. */
export const trail = signal<{ visits: number; value: number; shares: Record<string, number> }[]>([]);
export const review = signal<Review | null>(null);
export const reviewing = signal<{ done: number; total: number } | null>(null);
export const view = signal<View>("play");
/** Whether one search is shown as it stood, without a server. */
export const still = signal(false);
export const message = signal("");
/** Whether a request for a search waits for its answer: the first one of a game may have to compile it. */
export const asking = signal(false);
/** Whether the board is shown from the other side. */
export const flipped = signal(false);
export const announced = signal("");
/** Moves that are shown on the board without being played: a variation under the pointer. */
export const preview = signal<string[]>([]);

/** The entry of the folder of --runs that is shown, and its game that is replayed; `error` says why it has no board. */
export const run = signal("");
export const replayed = signal<{ number: number; opening: number; left: number; error: string } | null>(null);
/** The diagram that the game began with, if it was set up. */
export const setup = signal("");

function storedTheme(): "auto" | "light" | "dark" {
  try {
    return (localStorage.getItem("treetop-theme") as "light" | "dark" | null) ?? "auto";
  } catch {
    return "auto"; // a frame without storage
  }
}

export const settings = {
  seconds: signal(1),
  /** Simulations of a move of the engine; null: it is limited by seconds. */
  visits: signal<number | null>(null),
  opinion: signal(false),
  engine: signal(true),
  theme: signal<"auto" | "light" | "dark">(storedTheme()),
};

export const legal = computed<Legal[]>(() => session.value?.position.legal ?? []);
export const isOver = computed(() => session.value?.position.over ?? false);
export const isMyTurn = computed(() => {
  const shown = session.value;
  if (!shown || shown.position.over || still.value) return false;
  const player = shown.position.player;
  return player === "simultaneous" || (typeof player === "number" && (view.value !== "play" || !settings.engine.value || shown.people.includes(player)));
});

let stopListening: (() => void) | null = null;

export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    message.value = "";
    return await work();
  } catch (error) {
    message.value = error instanceof Error ? error.message : String(error);
    return undefined;
  }
}

export function take(event: LiveEvent): void {
  if (event.type === "position") {
    const before = session.value;
    if (before && before.session !== event.session) return;
    if (before && (before.ply !== event.ply || before.position.text !== event.position.text)) {
      analysis.value = null;
      trail.value = [];
      announce(event);
    }
    session.value = event;
    writeLink();
    void answer(event);
  } else if (event.type === "analysis") {
    if (event.ply !== session.value?.ply) return;
    analysis.value = event;
    const shares = Object.fromEntries(event.moves.map((one) => [one.move, one.share]));
    const last = trail.value[trail.value.length - 1];
    if (!last || event.simulations > last.visits)
      trail.value = [...trail.value.slice(-400), { visits: event.simulations, value: event.root.winrate, shares }];
  } else if (event.type === "review") {
    reviewing.value = event;
    if (session.value) void attempt(async () => (review.value = await api.readReview(session.value!.session)));
  } else {
    message.value = event.error;
  }
}

function announce(event: Session): void {
  const move = event.line[event.ply - 1];
  const turn = event.position.over ? "The game is over." : `${playerName(event.position.player)} to move.`;
  announced.value = `${move ? `Move ${move}. ` : ""}${turn}`;
}

/** Let the engine move, or think about the position, as the settings want it. */
async function answer(shown: Session): Promise<void> {
  const { position } = shown;
  if (position.over || shown.thinking || shown.ply !== shown.plies) return;
  const mine = typeof position.player === "string" || (typeof position.player === "number" && shown.people.includes(position.player));
  if (view.value === "play" && settings.engine.value && !mine)
    await ask({ ...strength(), play: true, at: shown.ply });
  else if (view.value === "play" && settings.opinion.value && mine && position.player !== "simultaneous" && !analysis.value)
    await ask({ seconds: 5, at: shown.ply });
}

/** Ask for a search of the position. */
async function ask(content: object): Promise<Session | undefined> {
  asking.value = true;
  try {
    return await attempt(async () => {
      const found = await api.think(session.value!.session, content);
      if (found.session === session.value?.session && found.ply > session.value.ply) take(found); // the game has moved on meanwhile
      return found;
    });
  } finally {
    asking.value = false;
  }
}

/** The limit of a search for the engine's move. */
export const strength = () => (settings.visits.value === null ? { seconds: settings.seconds.value } : { visits: settings.visits.value, seconds: 60 });

export async function begin(game: string | null, options: { moves?: string[]; people?: number[]; seed?: number | null; setup?: string } = {}): Promise<void> {
  await attempt(() => open(() => api.begin({ ...(game ? { game } : {}), ...options }), options.setup));
}

/** Show another game: a new one, or a recorded one. */
async function open(make: () => Promise<Session>, diagram = ""): Promise<void> {
  const old = session.value;
  const made = await make();
  replayed.value = null;
  stopListening?.();
  setup.value = diagram;
  session.value = null;
  forget();
  analysis.value = null;
  trail.value = [];
  review.value = null;
  reviewing.value = null;
  take(made);
  stopListening = listen(made.session, take);
  if (old) void api.close(old.session).catch(() => undefined);
}

/** Replay a recorded game of an entry on the board; where that cannot be done, note why. */
export async function replay(entry: string, number: number, ply?: number): Promise<void> {
  const about = { number, opening: 0, left: 0, error: "" };
  try {
    await open(async () => {
      const found = await runsApi.replay(entry, number);
      Object.assign(about, { opening: found.opening, left: found.left });
      return ply ? api.go(found.session.session, Math.min(ply, found.session.plies)) : found.session;
    });
  } catch (error) {
    about.error = error instanceof Error ? error.message : String(error);
  }
  run.value = entry;
  replayed.value = about;
  writeLink();
}

export const play = (move: string) => attempt(async () => {
  const shown = session.value!;
  const keeps = view.value !== "play";
  if (keeps && shown.line[shown.ply] === move) take(await api.go(shown.session, shown.ply + 1));
  else {
    const next = await api.play(shown.session, move);
    if (keeps) branch(shown, next);
    take(next);
  }
  return true;
});
export const go = (ply: number) => attempt(async () => take(await api.go(session.value!.session, ply)));
export const think = (content: object) => ask(content);
export const stop = () => attempt(() => api.stop(session.value!.session));

/** Take back moves until it is the person's turn again. */
export async function undo(): Promise<void> {
  const shown = session.value;
  if (!shown || shown.ply === 0) return;
  const back = settings.engine.value && shown.people.length === 1 && shown.position.players > 1 && !shown.position.over ? 2 : 1;
  await go(Math.max(0, shown.ply - back));
}

/** The name of a game as people read it; of one's own game, the name of its class. */
export const gameName = (game: string) => game.replace(/^.*:/, "").replaceAll("_", " ");

/** What the list of games says of a game; one's own game stands in it by the name of its class. */
export function entryOf(game: string): GameEntry | undefined {
  const base = game.split("(")[0]!;
  return games.value.find((one) => one.name === base || base.endsWith(`:${one.name}`));
}

export function playerName(player: Session["position"]["player"]): string {
  return typeof player === "number" ? `Player ${player + 1}` : player === "simultaneous" ? "All players" : (player ?? "nobody");
}

/** The parts of the address, as it was opened or changed by hand. */
export const opened = signal(new URLSearchParams(location.hash.slice(1)));
/** Views that show no game: what their addresses hold instead. */
export const gameless: Partial<Record<View, () => Record<string, string>>> = {};

/** The address holds the game, its moves and the view, so that it can be shared. */
export function link(): string {
  const shown = session.value;
  const own = gameless[view.value];
  const parts = new URLSearchParams(own?.());
  if (shown && !own) {
    parts.set("game", shown.position.game);
    if (shown.line.length) parts.set("moves", shown.line.slice(0, shown.ply).join("~"));
    if (shown.seed !== null) parts.set("seed", String(shown.seed));
    if (setup.value) parts.set("setup", setup.value);
    parts.set("people", shown.people.join("~") || "none");
  }
  parts.set("view", view.value);
  if (run.value && (view.value === "runs" || replayed.value)) parts.set("run", run.value);
  if (replayed.value && shown) {
    parts.set("played", String(replayed.value.number));
    parts.set("ply", String(shown.ply));
  }
  return `#${parts}`;
}

export function writeLink(): void {
  history.replaceState(null, "", link());
}

export function show(name: View): void {
  view.value = name;
  writeLink();
  if (session.value) void answer(session.value);
}

/** Show what an address asks for. */
export async function start(hash = location.hash): Promise<void> {
  await attempt(async () => {
    info.value = await api.info();
    games.value = (await api.games()).games;
    const given = (opened.value = new URLSearchParams(hash.slice(1)));
    const wanted = given.get("view");
    if ((VIEWS as readonly string[]).includes(wanted ?? "")) view.value = wanted as View;
    run.value = given.get("run") ?? "";
    if (run.value && given.get("played")) {
      await replay(run.value, Number(given.get("played")), Number(given.get("ply")));
      if (session.value) return;
    }
    const people = given.get("people");
    await begin(given.get("game") ?? info.value.game, {
      ...(given.get("moves") ? { moves: given.get("moves")!.split("~") } : {}),
      ...(given.get("setup") ? { setup: given.get("setup")! } : {}),
      ...(given.get("seed") ? { seed: Number(given.get("seed")) } : {}),
      ...(people ? { people: people === "none" ? [] : people.split("~").map(Number) } : {}),
    });
    if (!session.value && message.value) { // the address is wrong: say so beside a game that can be played
      const problem = message.value;
      await begin(info.value.game);
      message.value = problem;
    }
  });
}
