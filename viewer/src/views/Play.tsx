import { begin, entryOf, go, info, isMyTurn, isOver, link, message, review, session, settings, show, stop, strength, think, undo } from "../state";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../api";
import { common, mainLine } from "../variations";
import { GameParameters, SetUp } from "./NewGame";
import { lossOf, lost } from "./report";

const STRENGTHS: [string, number][] = [["Quick", 0.1], ["Fast", 0.5], ["Normal", 1], ["Strong", 3], ["Strongest", 10]];
const COPIED = "Copied.";
const SIMULATIONS = [10, 100, 1000, 10_000, 100_000];

export function Play() {
  const shown = session.value!;
  const players = shown.position.players;
  const side = shown.people.length === players && players > 1 ? "both" : shown.people.length === 0 ? "none" : String(shown.people[0]);
  const restart = (value: string) => {
    settings.engine.value = value !== "both";
    const people = value === "both" ? Array.from({ length: players }, (_, n) => n) : value === "none" ? [] : [Number(value)];
    void begin(shown.position.game, { people });
  };
  const setStrength = (value: string) => {
    if (value.startsWith("v")) settings.visits.value = Number(value.slice(1));
    else { settings.visits.value = null; settings.seconds.value = Number(value); }
  };
  const about = entryOf(shown.position.game)?.summary;
  const plain = shown.position.game.includes(":") && shown.position.board.every((part) => part.kind === "text");
  return (
    <>
      {about && <p class="about-game">{about}</p>}
      {plain && <p class="note small">A method <code>board</code> in its class draws it here: see docs/boards.md.</p>}
      <div class="controls">
        <label>You play
          <select value={side} onChange={(event) => restart(event.currentTarget.value)}>
            {Array.from({ length: players }, (_, n) => <option key={n} value={String(n)}>{players === 1 ? "the game" : `player ${n + 1}`}</option>)}
            {players > 1 && <option value="both">all sides</option>}
            <option value="none">nobody: watch</option>
          </select>
        </label>
        <label>Engine
          <select value={settings.visits.value === null ? String(settings.seconds.value) : `v${settings.visits.value}`} onChange={(event) => setStrength(event.currentTarget.value)}>
            <optgroup label="By time">{STRENGTHS.map(([name, seconds]) => <option key={name} value={String(seconds)}>{name} · {seconds} s</option>)}</optgroup>
            <optgroup label="By simulations">{SIMULATIONS.map((count) => <option key={count} value={`v${count}`}>{count.toLocaleString("en")} simulations</option>)}</optgroup>
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={settings.opinion.value} onChange={(event) => { settings.opinion.value = event.currentTarget.checked; if (event.currentTarget.checked && isMyTurn.value) void think({ seconds: 5 }); }} />
          Show its opinion
        </label>
      </div>
      <div class="buttons">
        <button onClick={() => void begin(shown.position.game, { people: shown.people })}>New game</button>
        <button onClick={() => void undo()} disabled={shown.ply === 0}>Undo</button>
        <button onClick={() => void hint()} disabled={!isMyTurn.value || shown.thinking}>Hint</button>
        {shown.thinking && <button onClick={() => void stop()}>{isMyTurn.value ? "Stop thinking" : "Move now"}</button>}
        {isOver.value && <button class="primary" onClick={() => show("review")}>Review the game</button>}
      </div>
      <GameParameters key={`p${shown.position.game}`} />
      <h3>Moves</h3>
      <Record />
      <div class="buttons">
        <button onClick={() => void copy(shown.line.join(" "))} disabled={!shown.line.length}>Copy the moves</button>
        <button onClick={() => void copy(`${location.origin}/${link()}`)}>Copy a link to this position</button>
      </div>
      <SetUp key={`s${shown.session}`} />
      {info.value?.model && <p class="note">A trained network of {info.value.model} is used.</p>}
    </>
  );
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    message.value = COPIED;
    setTimeout(() => { if (message.value === COPIED) message.value = ""; }, 3000);
  } catch {
    message.value = text;
  }
}

async function hint(): Promise<void> {
  settings.opinion.value = true;
  await think(strength());
}

/** The moves of the game; a click shows the position after one. */
export function Record() {
  const shown = session.value!;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const place = list.current?.querySelector<HTMLElement>(".now");
    if (place && list.current) list.current.scrollTop = place.offsetTop - list.current.clientHeight / 2; // the page itself does not scroll
  }, [shown.ply, shown.plies]);
  if (!shown.line.length) return <p class="note">{howTo(shown)}</p>;
  const judged = new Map((review.value?.rows ?? []).map((row) => [row.ply, row]));
  return (
    <ol class="record" aria-label="Moves of the game" ref={list}>
      {shown.line.map((move, place) => {
        const row = judged.get(place);
        const loss = row?.move === move && common(shown.line, mainLine.value ?? shown.line) > place ? lossOf(row.loss) : undefined;
        return (
          <li key={place}>
            <button class={`quiet ${place + 1 === shown.ply ? "now" : ""} ${loss?.[1] ?? ""}`} aria-current={place + 1 === shown.ply ? "step" : undefined} title={loss && `${loss[1]}: ${lost(row!.loss)} lost`} onClick={() => void go(place + 1)}>
              <i>{place + 1}</i> {move}{loss && <sup>{loss[2]}</sup>}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

/** How a move is made in a position. */
function howTo({ position }: Session): string {
  if (!position.legal.length) return position.over ? "" : "The actions of this game are numbers: let the engine play, by Hint or by watching.";
  const names = position.legal.map((one) => one.move);
  if (["left", "right", "up", "down"].some((name) => names.includes(name))) return "Use the arrow keys, or the buttons below the board.";
  if (position.legal.every((one) => one.path.length === 0)) return "Choose a move below the board.";
  return position.board.some((part) => part.kind === "grid") ? "Click the board, or use Tab, the arrow keys and Enter." : "Click, or use Tab and Enter.";
}
