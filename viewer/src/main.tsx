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
addEventListener("hashchange", () => void start());
void start();
