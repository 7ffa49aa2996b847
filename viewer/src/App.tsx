import { useEffect } from "preact/hooks";
import { BoardPanel, sides } from "./board/BoardPanel";
import { announced, begin, entryOf, flipped, gameName, gameless, games, go, info, isMyTurn, isOver, legal, message, play, replayed, session, settings, show, stop, think, undo, view, type View } from "./state";
import { canMoveHere } from "./board/touch";
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

/** Views in which the arrow keys step through the game. */
const STEPPED: View[] = ["play", "analyse", "review", "whatif", "runs"];
/** Whether arrow keys belong to the game, and not to something that has the focus. */
const steps = (target: HTMLElement) => STEPPED.includes(view.value) && !target.closest("[role=application], [role=tree], [role=radiogroup]");
/** Whether an arrow key is a move of the game: left, right, up or down. */
const pushed = (event: KeyboardEvent) => event.key.startsWith("Arrow") && STEPPED.includes(view.value) && isMyTurn.value && canMoveHere() && legal.value.some((move) => move.move === event.key.slice(5).toLowerCase());

/** The keys of each view, in the footer. */
const STEP: [string, string][] = [["←", ""], ["→", "step through the game"]];
const KEYS: Partial<Record<View, [string, string][]>> = {
  play: [["u", "undo"], ["n", "new game"], ...STEP], analyse: [["Space", "start or stop"], ...STEP], review: STEP, whatif: STEP,
  time: [["←", ""], ["→", "step"], ["Space", "play"], [",", ""], [".", "changes"]], learn: [["←", ""], ["→", "steps of the tour"]],
};

export function App() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(target.tagName)) return;
      const shown = session.value;
      if (!shown || gameless[view.value]) return;
      if (event.key === "u") void undo();
      else if (event.key === "n") void begin(shown.position.game, { people: shown.people });
      else if (pushed(event)) void play(event.key.slice(5).toLowerCase());
      else if (event.key === "[" || (event.key === "ArrowLeft" && steps(target))) void (shown.ply > 0 && go(shown.ply - 1));
      else if (event.key === "]" || (event.key === "ArrowRight" && steps(target))) void (shown.ply < shown.plies && go(shown.ply + 1));
      else if (event.key === " " && view.value === "analyse" && !target.closest("button, summary, a, .grid, tr")) void (shown.thinking ? stop() : !isOver.value && think({ seconds: 600 }));
      else if (event.key === "f") flipped.value = !flipped.value;
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
        {KEYS[view.value] && <span class="keys">{KEYS[view.value]!.map(([key, does]) => <span key={key}><kbd>{key}</kbd>{does && ` ${does}`}</span>)}</span>}
      </footer>
      <div class="hidden" role="status" aria-live="polite">{announced.value}</div>
    </>
  );
}

function Header() {
  const shown = session.value;
  const known = entryOf(shown?.position.game ?? "");
  const current = known?.name ?? shown?.position.game;
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
          {!known && shown && <option value={shown.position.game}>{gameName(shown.position.game)}</option>}
          {games.value.map((game) => <option key={game.name} value={game.name}>{gameName(game.name)}</option>)}
        </select>
      </label>}
      <nav aria-label="Views">
        {(Object.keys(TITLES) as View[]).map((name) => (
          <button key={name} class="tab" data-name={TITLES[name]} aria-current={view.value === name ? "page" : undefined} onClick={() => show(name)}>{TITLES[name]}</button>
        ))}
      </nav>
      <button class="quiet" onClick={() => (settings.theme.value = themes[(themes.indexOf(theme) + 1) % 3]!)} aria-label={`Colours: ${theme}. Change.`} title={`Colours: ${theme}`}>
        {theme === "dark" ? "☾" : theme === "light" ? "☀" : "◐"}
      </button>
    </header>
  );
}
