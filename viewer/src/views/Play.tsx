import { begin, go, info, isMyTurn, isOver, link, message, session, settings, show, stop, strength, think, undo } from "../state";
import { GameParameters, SetUp } from "./NewGame";

const STRENGTHS: [string, number][] = [["Quick", 0.1], ["Fast", 0.5], ["Normal", 1], ["Strong", 3], ["Strongest", 10]];
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
  return (
    <>
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
    message.value = "Copied.";
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
  if (!shown.line.length) return <p class="note">{shown.position.legal.length ? "Click the board, or use the arrow keys and Enter." : ""}</p>;
  return (
    <ol class="record" aria-label="Moves of the game">
      {shown.line.map((move, place) => (
        <li key={place}>
          <button class={place + 1 === shown.ply ? "quiet now" : "quiet"} aria-current={place + 1 === shown.ply ? "step" : undefined} onClick={() => void go(place + 1)}>
            <i>{place + 1}</i> {move}
          </button>
        </li>
      ))}
    </ol>
  );
}
