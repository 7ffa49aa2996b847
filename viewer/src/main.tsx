import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./App";
import { settings, start } from "./state";

effect(() => {
  const theme = settings.theme.value;
  if (theme === "auto") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem("treetop-theme");
  } else {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("treetop-theme", theme);
  }
});

render(<App />, document.getElementById("app")!);
// The hash of the event: by now an event of the last game may have written its own link.
addEventListener("hashchange", (event) => void start(new URL(event.newURL).hash));
void start();
