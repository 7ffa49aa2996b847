import { useEffect } from "preact/hooks";
import type { MoveInfo, Part, Session } from "../api";
import { analysis, asking, flipped, go, isMyTurn, isOver, legal, play, playerName, preview, review, session, settings, still, view } from "../state";
import { common, mainLine } from "../variations";
import { CardsPart, DicePart, PilesPart, ShapesPart, TablePart, TextPart, TrackPart, Value } from "./parts";
import { canFlip, GridPart } from "./Grid";
import { ambiguous, canMoveHere, clear } from "./touch";

export interface Mark {
  share: number; value: number | null; best: boolean; label: string; visits: string;
  /** Whether the label is shown even where the area is too small for it. */
  labelled: boolean;
  /** Where the piece of the move comes from, of the best moves. */
  from?: string;
}

/** A move of a variation that is shown: its number, the name that it touches last, and where its piece comes from. */
export interface Step { number: number; to: string; from?: string }

const LABELS = 10; // moves whose labels are shown, the most visited first
const ARROWS = 3;

/** The key of a move that is made by a button: no name on a board has a blank. */
const buttonOf = (move: string) => `button ${move}`;

/** The opinion of the search, at the thing that a move touches last; not while a variation is shown in its place. */
function marks(): Map<string, Mark> {
  const found = new Map<string, Mark>();
  const shown = analysis.value;
  if (!shown || preview.value.length || (view.value === "play" && !settings.opinion.value) || view.value === "learn") return found;
  const paths = new Map(legal.value.map((move) => [move.move, move.path]));
  for (const one of [...shown.moves].sort((a, b) => a.visits - b.visits)) {
    const path = paths.get(one.move);
    if (!path || one.visits === 0) continue;
    const name = path[path.length - 1] ?? buttonOf(one.move);
    const before = found.get(name);
    if (!before || one.share >= before.share) found.set(name, { share: one.share, value: one.winrate, best: one.order === 0, label: label(one), visits: short(one.visits), labelled: one.order < LABELS, from: path.length > 1 && one.order < ARROWS ? path[0] : undefined });
  }
  return found;
}

const label = (one: MoveInfo) => (one.winrate === null ? "" : `${Math.round(100 * one.winrate)}`);

/** In a review: the move of the game and the better one, at the names that they touch last. */
function advice(): Map<string, "played" | "better"> {
  const found = new Map<string, "played" | "better">();
  const shown = session.value!;
  const row = view.value === "review" && isOnMainLine(shown) ? review.value?.rows.find((one) => one.ply === shown.ply) : undefined;
  if (!row || row.move === row.best || row.loss < 0.005) return found;
  for (const [move, kind] of [[row.move, "played"], [row.best, "better"]] as const) {
    const path = legal.value.find((one) => one.move === move)?.path ?? [];
    if (path.length) found.set(path[path.length - 1]!, kind);
  }
  return found;
}

const isOnMainLine = (shown: Session) => mainLine.value === null || common(shown.line.slice(0, shown.ply), mainLine.value) === shown.ply;

const short = (count: number) => (count < 1000 ? String(count) : count < 1e6 ? `${(count / 1000).toFixed(count < 1e4 ? 1 : 0)}k` : `${(count / 1e6).toFixed(1)}M`);

/** The moves of a previewed variation on the board. Of the later ones only the text is known: the longest names in it count. */
function steps(): Step[] {
  const names = [...new Set(partNames(session.value?.position.board ?? []))].filter(Boolean).sort((a, b) => b.length - a.length);
  return preview.value.flatMap((move, place) => {
    const own = place === 0 ? legal.value.find((one) => one.move === move)?.path : undefined;
    const to = own ? own[own.length - 1] : names.find((name) => move.endsWith(name));
    const from = own ? own[own.length - 2] : names.find((name) => name !== to && move.startsWith(name) && move.length >= name.length + (to?.length ?? 0));
    return to ? [{ number: place + 1, to, from }] : [];
  });
}

function partNames(parts: Part[]): string[] {
  return parts.flatMap((part) => {
    if (part.kind === "grid") return part.cell_names.flat();
    if (part.kind === "piles") return part.rows.flat().map((pile) => pile.name);
    if (part.kind === "cards") return part.cards.map((card) => card.name);
    return [];
  });
}

export function BoardPanel() {
  const shown = session.value!;
  const { position } = shown;
  useEffect(clear, [shown.session, shown.ply]);
  const free = legal.value.filter((move) => move.path.length === 0);
  const opinion = marks();
  const numbers = steps();
  const hints = advice();
  return (
    <div class="board">
      {position.board.map((part, place) => <PartView key={place} part={part} marks={opinion} steps={numbers} advice={hints} last={lastMove()} />)}
      {ambiguous.value.length > 0 && (
        <div class="choices" role="group" aria-label="Which move?">
          {ambiguous.value.map((move) => <button key={move.move} onClick={() => { clear(); void play(move.move); }}>{move.move}</button>)}
          <button class="quiet" onClick={clear}>cancel</button>
        </div>
      )}
      {isMyTurn.value && free.length > 0 && canMoveHere() && (
        <div class="choices" role="group" aria-label="Moves">
          {free.slice(0, 60).map((move) => <button key={move.move} onClick={() => void play(move.move)}>{move.move}<Value mark={opinion.get(buttonOf(move.move))} /></button>)}
        </div>
      )}
      <Turn />
      <Steps />
    </div>
  );
}

/** How the pieces of the players look, so that the mark of the player to move has the same colour. */
export function sides(parts: Part[]): string {
  const grid = parts.find((part) => part.kind === "grid");
  if (grid?.kind !== "grid") return "";
  if (grid.pieces === "marks") return "marks";
  return grid.shape === "hex" ? "stones hexes" : grid.surface === "lines" || grid.surface === "plain" ? "stones" : "";
}

function lastMove(): string {
  const shown = session.value!;
  return shown.ply > 0 ? (shown.line[shown.ply - 1] ?? "") : "";
}

function PartView({ part, ...rest }: { part: Part; marks: Map<string, Mark>; steps: Step[]; advice: Map<string, "played" | "better">; last: string }) {
  switch (part.kind) {
    case "grid": return <GridPart grid={part} {...rest} />;
    case "cards": return <CardsPart part={part} marks={rest.marks} />;
    case "dice": return <DicePart part={part} />;
    case "piles": return <PilesPart part={part} />;
    case "track": return <TrackPart part={part} />;
    case "shapes": return <ShapesPart part={part} />;
    case "table": return <TablePart part={part} />;
    default: return <TextPart part={part} />;
  }
}

function Turn() {
  const { position, thinking, preparing, people } = session.value!;
  if (isOver.value) return <p class="turn over">{outcome(position.returns ?? [], people)}</p>;
  if (still.value && position.players === 1) return null;
  const whose = position.player;
  const mine = typeof whose === "number" && people.includes(whose) && people.length < position.players;
  return (
    <p class="turn">
      {typeof whose === "number" && position.players > 1 && <i class={`dot player${whose}`} />}
      {position.players === 1 ? "Your move" : whose === "simultaneous" ? "All players choose at the same time" : mine ? `${playerName(whose)} (you) to move` : `${playerName(whose)} to move`}
      {(thinking || asking.value) && <span class="thinking">thinking…{(preparing || !thinking) && !analysis.value && <span class="late"> compiling its rules first</span>}</span>}
      {view.value === "play" && settings.opinion.value && analysis.value && !thinking && typeof whose === "number" && position.players > 1 && <span class="standing-value">{Math.round(100 * analysis.value.root.winrate)}% for {playerName(whose)}</span>}
    </p>
  );
}

function outcome(returns: number[], people: number[]): string {
  if (returns.length === 1) return `The game is over: ${format(returns[0]!)} points.`;
  const best = Math.max(...returns);
  const winners = returns.flatMap((value, player) => (value === best ? [player] : []));
  if (winners.length > 1) return "The game is a draw.";
  const own = people.length === 1 ? (winners[0] === people[0] ? " You win!" : " You lose.") : "";
  return `${playerName(winners[0]!)} wins (${returns.map(format).join(" : ")}).${own}`;
}

const format = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(2));

/** Buttons to step through the game. */
function Steps() {
  const { ply, plies } = session.value!;
  if (still.value || (!plies && !session.value!.position.board.some(canFlip))) return null;
  const button = (text: string, to: number, name: string) => (
    <button class="quiet" disabled={to < 0 || to > plies || to === ply} onClick={() => void go(to)} aria-label={name} title={name}>{text}</button>
  );
  return (
    <div class="steps" role="group" aria-label="Steps of the game">
      {button("«", 0, "First position")}{button("◀", ply - 1, "Back")}
      <span>{ply} / {plies}</span>
      {button("▶", ply + 1, "Forward")}{button("»", plies, "Last position")}
      {session.value!.position.board.some(canFlip) && <button class="quiet" onClick={() => (flipped.value = !flipped.value)} aria-pressed={flipped.value} aria-label="Flip the board" title="Flip the board (f)">⇅</button>}
    </div>
  );
}
