import { useEffect } from "preact/hooks";
import { BoardPanel, sides } from "./board/BoardPanel";
import { announced, begin, gameless, games, go, info, message, replayed, session, settings, show, undo, view, type View } from "./state";
import { Analyse } from "./views/Analyse";
import { Learn } from "./views/Learn";
import { Play } from "./views/Play";
import { Proofs } from "./views/Proofs";
import { ReviewView } from "./views/Review";
import { Runs } from "./views/Runs";
import { TimeMachine } from "./views/TimeMachine";
import { TreeView } from "./views/Tree";
import { WhatIfView } from "./views/WhatIf";

const TITLES: Record<View, string> = {
  play: "Play", analyse: "Analyse", review: "Review", tree: "Tree", time: "Time machine", whatif: "What if", proofs: "Proofs", runs: "Runs", learn: "Learn",
};
const PANELS: Record<View, () => preact.JSX.Element> = {
  play: Play, analyse: Analyse, review: ReviewView, tree: TreeView, time: TimeMachine, whatif: WhatIfView, proofs: Proofs, runs: Runs, learn: Learn,
};
const WIDE: View[] = ["tree", "proofs", "runs", "learn"];

export function App() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(target.tagName)) return;
      const shown = session.value;
      if (!shown || gameless[view.value]) return;
      if (event.key === "u") void undo();
      else if (event.key === "n") void begin(shown.position.game, { people: shown.people });
      else if (event.key === "[" && shown.ply > 0) void go(shown.ply - 1);
      else if (event.key === "]" && shown.ply < shown.plies) void go(shown.ply + 1);
      else if (/^[1-7]$/.test(event.key) && event.shiftKey) show((Object.keys(TITLES) as View[])[Number(event.key) - 1]!);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => document.querySelector("nav .tab[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [view.value]);
  const Panel = PANELS[view.value];
  const onBoard = view.value === "runs" && replayed.value !== null && !replayed.value.error;
  const wide = WIDE.includes(view.value) && !onBoard;
  return (
    <>
      <a class="skip" href="#panel">Skip to the panel</a>
      <Header />
      {message.value && (
        <div class="message" role="alert">
          <span>{message.value}</span>
          <button class="quiet" onClick={() => (message.value = "")} aria-label="Dismiss the message">×</button>
        </div>
      )}
      <main class={`${wide ? "wide" : ""} ${sides(session.value?.position.board ?? [])}`}>
        {!wide && <section class="stage" aria-label="Board">{session.value ? <BoardPanel /> : <p class="empty">Loading…</p>}</section>}
        <section class="panel" id="panel" aria-label={TITLES[view.value]} tabIndex={-1}>
          {session.value || gameless[view.value] ? <Panel /> : null}
        </section>
      </main>
      <footer>
        <span>Treetop {info.value?.version}</span>
        {!gameless[view.value] && <span class="keys"><kbd>u</kbd> undo <kbd>n</kbd> new game <kbd>[</kbd> <kbd>]</kbd> step through the game</span>}
      </footer>
      <div class="hidden" role="status" aria-live="polite">{announced.value}</div>
    </>
  );
}

function Header() {
  const shown = session.value;
  const current = shown?.position.game.split("(")[0] ?? "";
  const themes = ["auto", "light", "dark"] as const;
  const theme = settings.theme.value;
  return (
    <header>
      <span class="logo" aria-hidden="true">
        <svg viewBox="0 0 24 24" width="22" height="22"><path d="M12 3v7M12 10l-6 6M12 10l6 6M12 10v9" /><circle cx="12" cy="4" r="2.4" /><circle cx="6" cy="17" r="2.4" /><circle cx="12" cy="20" r="2.4" /><circle cx="18" cy="17" r="2.4" /></svg>
      </span>
      <h1>Treetop</h1>
      {!gameless[view.value] && <label class="game">
        <span class="hidden">Game</span>
        <select value={current} onChange={(event) => void begin(event.currentTarget.value)}>
          {!games.value.some((game) => game.name === current) && shown && <option value={shown.position.game}>{shown.position.game}</option>}
          {games.value.map((game) => <option key={game.name} value={game.name}>{game.name.replaceAll("_", " ")}</option>)}
        </select>
      </label>}
      <nav aria-label="Views">
        {(Object.keys(TITLES) as View[]).map((name) => (
          <button key={name} class="tab" aria-current={view.value === name ? "page" : undefined} onClick={() => show(name)}>{TITLES[name]}</button>
        ))}
      </nav>
      <button class="quiet" onClick={() => (settings.theme.value = themes[(themes.indexOf(theme) + 1) % 3]!)} aria-label={`Colours: ${theme}. Change.`} title={`Colours: ${theme}`}>
        {theme === "dark" ? "☾" : theme === "light" ? "☀" : "◐"}
      </button>
    </header>
  );
}
