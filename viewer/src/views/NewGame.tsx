import { useState } from "preact/hooks";
import type { Parameter } from "../api";
import { begin, entryOf, session, setup } from "../state";

type Value = number | boolean | string;

/** The parameters in the name of a game: `hex(size=7)`. */
export function parametersIn(game: string): Record<string, string> {
  const inside = /\((.*)\)$/.exec(game)?.[1] ?? "";
  return Object.fromEntries([...inside.matchAll(/(\w+)\s*=\s*('[^']*'|"[^"]*"|[^,\s]+)/g)].map((found) => [found[1]!, found[2]!.replace(/^['"]|['"]$/g, "")]));
}

const spelled = (value: Value) => (typeof value === "boolean" ? (value ? "True" : "False") : typeof value === "number" ? String(value) : `'${value}'`);

function valueOf(parameter: Parameter, given: string | undefined): Value {
  if (given === undefined) return parameter.default;
  if (parameter.kind === "flag") return given === "True";
  return parameter.kind === "text" ? given : Number(given);
}

/** Controls for the parameters of the game, such as the size of its board; a new game begins with them. */
export function GameParameters() {
  const shown = session.value!;
  const name = shown.position.game.split("(")[0]!;
  const parameters = entryOf(name)?.parameters ?? [];
  const current = parametersIn(shown.position.game);
  const [values, setValues] = useState<Record<string, Value>>(Object.fromEntries(parameters.map((one) => [one.name, valueOf(one, current[one.name])])));
  if (!parameters.length) return null;
  const set = (one: Parameter, value: Value) => setValues((old) => ({ ...old, [one.name]: value }));
  const changed = parameters.some((one) => values[one.name] !== valueOf(one, current[one.name]));
  const start = () => {
    const inside = parameters.filter((one) => values[one.name] !== one.default).map((one) => `${one.name}=${spelled(values[one.name]!)}`);
    void begin(inside.length ? `${name}(${inside.join(", ")})` : name, { people: shown.people });
  };
  return (
    <form class="controls parameters" aria-label="Parameters of the game" onSubmit={(event) => { event.preventDefault(); start(); }}>
      {parameters.map((one) => (one.kind === "flag" ? (
        <label key={one.name} class="check"><input type="checkbox" checked={Boolean(values[one.name])} onChange={(event) => set(one, event.currentTarget.checked)} />{one.name.replaceAll("_", " ")}</label>
      ) : (
        <label key={one.name}>{one.name.replaceAll("_", " ")}
          {one.choices ? <select value={String(values[one.name])} onChange={(event) => set(one, event.currentTarget.value)}>{one.choices.map((choice) => <option key={choice}>{choice}</option>)}</select>
            : one.kind === "text" ? <input value={String(values[one.name])} onInput={(event) => set(one, event.currentTarget.value)} />
              : <input type="number" min={one.low} max={one.high} step={one.kind === "whole" ? 1 : "any"} required value={Number(values[one.name])} onInput={(event) => set(one, Number(event.currentTarget.value))} />}
        </label>
      )))}
      <button disabled={!changed}>Begin with these</button>
    </form>
  );
}

/** Begin from a diagram, where the game can read one, or from a list of moves. */
export function SetUp() {
  const shown = session.value!;
  const entry = entryOf(shown.position.game);
  const [moves, setMoves] = useState("");
  const [diagram, setDiagram] = useState(shown.position.text);
  return (
    <details class="setup">
      <summary>Set up a position, or paste a game</summary>
      <form onSubmit={(event) => { event.preventDefault(); void begin(shown.position.game, { moves: moves.split(/[\s,;]+/).filter(Boolean), people: shown.people, seed: shown.seed, ...(setup.value ? { setup: setup.value } : {}) }); }}>
        <label class="column">Moves, separated by blanks
          <textarea rows={2} value={moves} placeholder={shown.line.join(" ")} onInput={(event) => setMoves(event.currentTarget.value)} />
        </label>
        <button disabled={!moves.trim()}>Load the moves</button>
      </form>
      {entry?.setup !== false && (
        <form onSubmit={(event) => { event.preventDefault(); void begin(shown.position.game, { setup: diagram, people: shown.people }); }}>
          <label class="column">A diagram of the position
            <textarea class="diagram" rows={Math.min(20, diagram.split("\n").length + 1)} value={diagram} spellcheck={false} onInput={(event) => setDiagram(event.currentTarget.value)} />
          </label>
          <button disabled={!diagram.trim()}>Set up</button>
        </form>
      )}
    </details>
  );
}
