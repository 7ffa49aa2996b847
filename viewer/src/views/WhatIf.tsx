import { useState } from "preact/hooks";
import { api, type WhatIf } from "../api";
import { analysis, attempt, isOver, session } from "../state";

const FINALS = ["visits", "value", "secure", "lcb"];

export function WhatIfView() {
  const shown = session.value!;
  const [c, setC] = useState(1.41);
  const [visits, setVisits] = useState(2000);
  const [fpu, setFpu] = useState(0);
  const [useFpu, setUseFpu] = useState(false);
  const [final, setFinal] = useState("visits");
  const [rows, setRows] = useState<{ rule: string; visits: number; found: WhatIf }[]>([]);
  const [busy, setBusy] = useState(false);
  const rule = `uct(c=${c.toFixed(2)}${useFpu ? `, fpu=${fpu.toFixed(2)}` : ""}${final === "visits" ? "" : `, final='${final}'`})`;
  const ask = async () => {
    setBusy(true);
    await attempt(async () => {
      const found = await api.whatIf(shown.session, { rule, visits, seeds: 5 });
      setRows((old) => [{ rule, visits, found }, ...old].slice(0, 12));
    });
    setBusy(false);
  };
  const chosen = analysis.value?.move;
  return (
    <>
      <p class="note">Change the settings and search this position again, with five seeds. A decision that holds for all of them is stable.</p>
      <div class="sliders">
        <Slider name="Exploration c" value={c} min={0} max={4} step={0.05} set={setC} />
        <label class="check"><input type="checkbox" checked={useFpu} onChange={(event) => setUseFpu(event.currentTarget.checked)} /> First-play urgency</label>
        {useFpu && <Slider name="Value of an untried move" value={fpu} min={-1} max={1} step={0.05} set={setFpu} />}
        <Slider name="Simulations" value={visits} min={100} max={20000} step={100} set={setVisits} />
        <label>Final rule<select value={final} onChange={(event) => setFinal(event.currentTarget.value)}>{FINALS.map((name) => <option key={name}>{name}</option>)}</select></label>
      </div>
      <p class="formula">{rule}</p>
      <div class="buttons"><button class="primary" onClick={() => void ask()} disabled={busy || isOver.value}>{busy ? "Searching…" : "Search"}</button></div>
      <ul class="whatifs">
        {rows.map(({ rule: own, visits: many, found }, place) => {
          const total = found.searches[0]!.moves.reduce((sum, move) => sum + move[1], 0) || 1;
          const top = [...found.searches[0]!.moves].sort((a, b) => b[1] - a[1]).slice(0, 4);
          return (
            <li key={place}>
              <b>{found.move}</b> <span class={`badge ${found.same === found.of ? "good" : "inaccuracy"}`}>{found.same === found.of ? "stable" : `${found.same} of ${found.of} seeds`}</span>
              {chosen && chosen !== found.move && <span class="badge mistake">not {chosen}</span>}
              <div class="mini">{top.map(([move, count]) => <span key={move}>{move} <meter min={0} max={1} value={count / total} /> {Math.round((100 * count) / total)}%</span>)}</div>
              <small>{own}, {many.toLocaleString("en")} simulations</small>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Slider({ name, value, min, max, step, set }: { name: string; value: number; min: number; max: number; step: number; set: (value: number) => void }) {
  return (
    <label class="slider"><span>{name}</span>
      <input type="range" min={min} max={max} step={step} value={value} onInput={(event) => set(Number(event.currentTarget.value))} />
      <output>{step < 1 ? value.toFixed(2) : value.toLocaleString("en")}</output>
    </label>
  );
}
