"""The display of `treetop prove`: the progress, the result, and the tree of the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from treetop.cli.common import CHOSEN, FAINT, errors, say, screen
from treetop.errors import TreetopError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from treetop.prove.abilities import CounterModel
    from treetop.prove.outline import Outline
    from treetop.prove.prover import Theorem
    from treetop.prove.result import ProofResult
    from treetop.prove.search import ProofProgress

_MODEL_SECONDS = 5.0  # the longest search for a counter-model, in seconds
_MODEL_SHARE = 0.2  # of a time limit
_MODEL_LEAST = 0.05
_TACTIC = 40  # characters of a tactic in the best partial proof
_STYLES = {"open": "yellow", "proved": "green", "dead": "red"}


@dataclass(frozen=True)
class Found:
    """The result for one theorem, with everything that is displayed."""

    theorem: Theorem
    result: ProofResult
    tree: Outline | None = None
    counter_model: CounterModel | None = None
    """For a formula that is not provable."""

    @property
    def headline(self) -> str:
        """The status in one line."""
        return (
            self.result.summary()
            if self.counter_model is None
            else "not provable in intuitionistic logic: there is a counter-model"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `--json` prints them."""
        model = {} if self.counter_model is None else {"counter_model": self.counter_model.to_dict()}
        return {
            **self.result.to_dict(),
            **model,
            **({} if self.tree is None else {"tree": str(self.tree).splitlines()}),
        }

    def show(self) -> None:
        """Print the result: in colours on a terminal, as plain text elsewhere."""
        result = self.result
        head = Text.assemble((result.theorem, "bold"), ": ", (self.headline, CHOSEN if result.proved else "bold red"))
        parts = [head, Text(result.statement, FAINT) if result.statement else None]
        model = "" if self.counter_model is None else str(self.counter_model).rstrip()
        parts += [Text(f"\n{text}") for text in ((result.script or result.refused_script).rstrip(), model) if text]
        parts.append(Text(f"\n{result.effort()}", FAINT))
        console = screen()
        for part in parts:
            if part is not None:
                console.print(part, soft_wrap=True)
        if self.tree is not None:
            say()
            draw_tree(self.tree)
        say()


def model_seconds(theorem: Theorem, seconds: float) -> float:
    """Return the part of a time limit that is reserved for a counter-model."""
    from treetop.prove.abilities import Refutable

    return min(_MODEL_SECONDS, _MODEL_SHARE * seconds) if isinstance(theorem, Refutable) else 0.0


def find_counter_model(theorem: Theorem, result: ProofResult, seconds: float | None) -> CounterModel | None:
    """Search for a counter-model if no proof was found and the theorem is `Refutable`."""
    from treetop.prove.abilities import Refutable

    if result.graph.root.status.value == "proved" or result.interrupted or not isinstance(theorem, Refutable):
        return None
    try:
        with waiting(f"{theorem.name}: looking for a counter-model"):
            return theorem.refute(
                _MODEL_SECONDS if seconds is None else max(_MODEL_LEAST, min(_MODEL_SECONDS, seconds))
            )
    except TreetopError:
        return None


def draw_tree(tree: Outline) -> None:
    """Print the tree of a search; on a terminal, lines are cut at its width."""
    console = screen()
    if not console.is_terminal:
        say(str(tree))
        return
    for line in tree.lines:
        style = _STYLES[line.status.value] if line.is_goal else ""
        console.print(Text(str(line), style), no_wrap=True, overflow="ellipsis")
    console.print(Text(f"({tree.legend})", FAINT), soft_wrap=True)


def waiting(text: str) -> AbstractContextManager[object]:
    """Show a spinner and a text on a terminal, nothing elsewhere."""
    console = errors()
    return console.status(Text(_cut(text, console.width - 4))) if console.is_terminal else nullcontext()


@contextmanager
def live_progress(name: str) -> Iterator[Callable[[ProofProgress], None] | None]:
    """Show two lines on a terminal: the progress, and the best partial proof. Show nothing elsewhere."""
    console = errors()
    if not console.is_terminal:
        yield None
        return
    # Drawn from the search's own callback: a drawing thread would compete with the search for the interpreter.
    with Live(console=console, transient=True, auto_refresh=False) as live:
        yield lambda now: live.update(standing(name, now, console.width), refresh=True)


def standing(name: str, now: ProofProgress, width: int) -> Group:
    """Return the progress of a search in two lines of this width."""
    counts = {"open": now.open, "proved": now.proved, "dead": now.dead}
    goals = Text("goals: ") + Text("  ").join(
        Text(f"{count:,} {status}", _STYLES[status]) for status, count in counts.items()
    )
    doing = (
        "checking the proof" if now.checking else f"{now.attempts:,} attempts, {now.rate:,.0f}/s, {now.elapsed:.0f} s"
    )
    line = Text.assemble(goals, "  ", doing)
    rest = width - len(line) - 2
    if rest >= min(len(name), 8):
        line = Text.assemble((_cut(name, rest), "bold"), "  ", line)
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    return Group(line, Text(_path_text(now.best, width), FAINT, no_wrap=True))


def _path_text(tactics: tuple[str, ...], width: int) -> str:
    """Return the end of a path, as much of it as fits."""
    longest = min(_TACTIC, width - 2)
    text = " > ".join(_cut(tactic, longest) for tactic in tactics)
    return text if len(text) <= width else f"… {text[len(text) - width - 1 :].partition(' > ')[2]}"


def _cut(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: max(0, width - 1)]}…"
