/** The proof search that the view shows: its settings, the requests for it, and what the server has found. */

import { signal } from "@preact/signals";
import { call, ServerError } from "../api";
import { announced, attempt, gameless, info, message, writeLink } from "../state";

export type Status = "open" | "proved" | "dead";
export interface GoalNode {
  kind: "goal"; parent: number; id: number; text: string; status: Status; reason: string; visits: number; value: number;
  proof: boolean; shared: number; again: number | null; cycle: boolean; tactics: number; untried: number | null; left: number;
}
export interface TacticNode {
  kind: "tactic"; parent: number; order: number; text: string; status: Status; reason: string; visits: number; value: number;
  probability: number; proof: boolean; failed: boolean; backward: boolean; subgoals: number;
}
export type ProofNode = GoalNode | TacticNode;
export interface ProofView {
  proof: string; theorem: string; statement: string; mode: string | null; policy: string; c: number | null; seed: number;
  status: "open" | "proved" | "exhausted" | "refused";
  running: boolean; doing: "" | "searching" | "refuting"; note: string; full: boolean; simulations: number; attempts: number; seconds: number;
  goals: Record<Status, number>; steps: number; script: string; checker: string | null; assumptions: string[]; refutable: boolean; model: { text: string } | null;
}
export interface Part { proof: ProofView; goal: number; path: { id: number; tactic: string }[]; nodes: ProofNode[]; size: number }

const MOST = 300;
const EVERY = 200; // milliseconds between two looks at a search
export const PACES = { full: "full speed", five: "5 a second", one: "1 a second" } as const;
export type Pace = keyof typeof PACES;

export const settings = {
  formula: signal(""),
  /** Whether the theorem of the server is proved, instead of a formula. */
  lemma: signal(false),
  policy: signal("puct"),
  mode: signal("raw"),
  seed: signal(0),
  budget: signal(10_000),
  pace: signal<Pace>("full"),
};
export const part = signal<Part | null>(null);
/** Whether a search runs, here or on the server. */
export const busy = signal(false);
export const mistake = signal<{ text: string; shown: string; position: number | null } | null>(null);

gameless.proofs = () => ({
  ...(settings.lemma.value ? { lemma: info.value?.theorem ?? "" } : { formula: settings.formula.value }), policy: settings.policy.value, mode: settings.mode.value,
  seed: String(settings.seed.value), simulations: String(settings.budget.value),
});

const at = (what: string) => `/api/proofs/${encodeURIComponent(part.value!.proof.proof)}${what}`;
const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
let run = 0; // a later run ends an earlier one

async function look(goal = part.value!.goal): Promise<void> {
  const asked = run;
  const found = await call<Part>("GET", at(`/graph?goal=${goal}&nodes=${MOST}`));
  if (asked === run) part.value = found;
}

/** Look at the search until it ends. */
async function follow(mine: number): Promise<void> {
  for (;;) {
    await look();
    if (mine !== run || !part.value!.proof.running) return;
    await pause(EVERY);
  }
}

async function work(start: (mine: number) => Promise<void>): Promise<void> {
  const mine = ++run;
  busy.value = true;
  await attempt(() => start(mine));
  if (mine !== run) return;
  busy.value = false;
  const proof = part.value?.proof;
  if (proof) announced.value = proof.status === "open" ? `Paused: ${proof.note || "one simulation is done"}.` : outcome(proof);
}

export const outcome = (proof: ProofView): string =>
  proof.status === "proved" ? `Proved in ${proof.steps} ${proof.steps === 1 ? "step" : "steps"}`
    : proof.model ? "Not provable in intuitionistic logic"
      : proof.status === "exhausted" ? "Not proved: nothing is left to try"
        : proof.status === "refused" ? "The checker refused the proof" : "Not decided yet";

/** Search for a proof of the formula, from the start. */
export function prove(): Promise<void> {
  const old = part.value?.proof.proof;
  const { formula, lemma, policy, mode, seed, budget, pace } = settings;
  mistake.value = null;
  writeLink();
  return work(async (mine) => {
    if (old) await call("DELETE", `/api/proofs/${encodeURIComponent(old)}`).catch(() => undefined);
    const content = { ...(lemma.value ? {} : { formula: formula.value }), policy: policy.value, mode: mode.value, seed: seed.value };
    try {
      const made = await call<ProofView>("POST", "/api/proofs", { ...content, simulations: pace.value === "full" ? budget.value : 0 });
      if (mine !== run) return;
      part.value = { proof: made, goal: 0, path: [], nodes: [], size: 1 };
    } catch (error) {
      part.value = null;
      if (!(error instanceof ServerError) || error.answer.position == null) throw error;
      mistake.value = { text: error.message, shown: error.answer.shown ?? "", position: error.answer.position };
      return;
    }
    await (pace.value === "full" ? follow(mine) : slowly(mine));
  });
}

/** Run one simulation after another, with time to watch. */
async function slowly(mine: number): Promise<void> {
  await look();
  for (let done = part.value!.proof.simulations; done < settings.budget.value && mine === run; done += 1) {
    if (part.value!.proof.status !== "open") return;
    await pause(settings.pace.value === "one" ? 1000 : 200);
    if (mine === run) await further(mine, 1);
  }
}

async function further(mine: number, simulations: number): Promise<void> {
  await call("POST", at("/run"), { simulations });
  await follow(mine);
}

/** Continue the search with the same graph. */
export const resume = () => work((mine) => (settings.pace.value === "full" ? further(mine, settings.budget.value) : slowly(mine)));
export const step = () => work((mine) => further(mine, 1));
export const refute = () => work(async (mine) => {
  await call("POST", at("/refute"));
  await follow(mine);
});
/** Pause the search: it can be continued. */
export const halt = () => work(async (mine) => {
  await call("POST", at("/stop"));
  await follow(mine);
});
/** Show the graph below a goal. */
export const walk = (goal: number) => attempt(() => look(goal));

/** End what runs on this page; the search of the server goes on, and is found again by `back`. */
export const leave = () => void (run += 1);
export function back(): void {
  busy.value = false;
  if (part.value?.proof.running) void work(follow);
}

/** Take the settings of an address; return whether it has a formula. */
export function open(given: URLSearchParams): boolean {
  const formula = given.get("formula");
  const lemma = given.has("lemma") && info.value?.theorem != null;
  if (!formula && !lemma) return false;
  message.value = "";
  settings.formula.value = formula ?? "";
  settings.lemma.value = lemma;
  settings.policy.value = given.get("policy") ?? "puct";
  settings.mode.value = given.get("mode") ?? "raw";
  settings.seed.value = Number(given.get("seed")) || 0;
  settings.budget.value = Number(given.get("simulations")) || 10_000;
  return true;
}
