/** What the page shows: one game, its search, and the settings. */

import { computed, signal } from "@preact/signals";
import { api, listen, type Analysis, type GameEntry, type Info, type Legal, type LiveEvent, type Review, type Session } from "./api";

export const VIEWS = ["play", "analyse", "review", "tree", "time", "whatif", "learn"] as const;
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
export const message = signal("");
export const announced = signal("");
/** Moves that are shown on the board without being played: a variation under the pointer. */
export const preview = signal<string[]>([]);

export const settings = {
  seconds: signal(1),
  opinion: signal(false),
  engine: signal(true),
  theme: signal<"auto" | "light" | "dark">((localStorage.getItem("treetop-theme") as "light" | "dark" | null) ?? "auto"),
};

export const legal = computed<Legal[]>(() => session.value?.position.legal ?? []);
export const isOver = computed(() => session.value?.position.over ?? false);
export const isMyTurn = computed(() => {
  const shown = session.value;
  if (!shown || shown.position.over) return false;
  const player = shown.position.player;
  return player === "simultaneous" || (typeof player === "number" && (!settings.engine.value || shown.people.includes(player)));
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
    await attempt(() => api.think(shown.session, { seconds: settings.seconds.value, play: true }));
  else if (view.value === "play" && settings.opinion.value && mine && position.player !== "simultaneous" && !analysis.value)
    await attempt(() => api.think(shown.session, { seconds: 5 }));
}

export async function begin(game: string | null, options: { moves?: string[]; people?: number[]; seed?: number } = {}): Promise<void> {
  await attempt(async () => {
    const old = session.value;
    const made = await api.begin({ ...(game ? { game } : {}), ...options });
    stopListening?.();
    session.value = null;
    analysis.value = null;
    trail.value = [];
    review.value = null;
    reviewing.value = null;
    take(made);
    stopListening = listen(made.session, take);
    if (old) void api.close(old.session).catch(() => undefined);
  });
}

export const play = (move: string) => attempt(async () => take(await api.play(session.value!.session, move)));
export const go = (ply: number) => attempt(async () => take(await api.go(session.value!.session, ply)));
export const think = (content: object) => attempt(() => api.think(session.value!.session, content));
export const stop = () => attempt(() => api.stop(session.value!.session));

/** Take back moves until it is the person's turn again. */
export async function undo(): Promise<void> {
  const shown = session.value;
  if (!shown || shown.ply === 0) return;
  const back = settings.engine.value && shown.people.length === 1 && shown.position.players > 1 && !shown.position.over ? 2 : 1;
  await go(Math.max(0, shown.ply - back));
}

export function playerName(player: Session["position"]["player"]): string {
  return typeof player === "number" ? `Player ${player + 1}` : player === "simultaneous" ? "All players" : (player ?? "nobody");
}

/** The address holds the game, its moves and the view, so that it can be shared. */
export function link(): string {
  const shown = session.value;
  const parts = new URLSearchParams();
  if (shown) {
    parts.set("game", shown.position.game);
    if (shown.line.length) parts.set("moves", shown.line.slice(0, shown.ply).join("~"));
    if (shown.seed !== null) parts.set("seed", String(shown.seed));
    parts.set("people", shown.people.join("~") || "none");
  }
  parts.set("view", view.value);
  return `#${parts}`;
}

function writeLink(): void {
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
    const given = new URLSearchParams(hash.slice(1));
    const wanted = given.get("view");
    if ((VIEWS as readonly string[]).includes(wanted ?? "")) view.value = wanted as View;
    const people = given.get("people");
    await begin(given.get("game") ?? info.value.game, {
      ...(given.get("moves") ? { moves: given.get("moves")!.split("~") } : {}),
      ...(given.get("seed") ? { seed: Number(given.get("seed")) } : {}),
      ...(people ? { people: people === "none" ? [] : people.split("~").map(Number) } : {}),
    });
  });
}
