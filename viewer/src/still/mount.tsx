/** Show a snapshot in an element: in a page of its own, or in the output of a notebook. */

import { render } from "preact";
import "../style.css";
import "./still.css";
import { analysis, session, still, view } from "../state";
import type { Snapshot } from "./snapshot";
import { Still } from "./Still";

/** Show a snapshot below `place`, in a shadow tree, so that its styles and those around it stay apart. Return its end. */
export function mount(place: HTMLElement, snapshot: Snapshot, css: string): () => void {
  const host = document.createElement("div");
  host.className = "treetop";
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys
  place.append(host);
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  const follow = () => {
    const theme = themeAround(place);
    if (host.dataset.theme !== theme) host.dataset.theme = theme;
  };
  follow();
  const watch = new MutationObserver(follow); // a notebook changes its theme by an attribute
  for (const one of [document.documentElement, document.body]) watch.observe(one, { attributes: true });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", follow);
  begin(snapshot);
  render(<Still snapshot={snapshot} />, root);
  return () => {
    watch.disconnect();
    system.removeEventListener("change", follow);
    render(null, root);
    host.remove();
  };
}

function begin(snapshot: Snapshot): void {
  const { position } = snapshot;
  still.value = true;
  view.value = "analyse";
  const plies = position.moves.length;
  session.value = {
    type: "position", session: "still", seed: snapshot.analysis.seed, people: [], position, line: position.moves, ply: plies, plies, thinking: false,
  };
  analysis.value = { type: "analysis", over: true, ply: plies, ...snapshot.analysis };
}

/** Light or dark, by the first opaque background behind an element; a page of its own follows the system. */
function themeAround(place: HTMLElement): "light" | "dark" {
  for (let one: HTMLElement | null = place; one; one = one.parentElement) {
    const parts = getComputedStyle(one).backgroundColor.match(/[\d.]+/g)?.map(Number) ?? [];
    const [red = 0, green = 0, blue = 0, alpha = 1] = parts;
    if (parts.length >= 3 && alpha > 0.5) return 0.3 * red + 0.59 * green + 0.11 * blue < 128 ? "dark" : "light";
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
