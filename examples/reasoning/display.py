"""The output of `examples/game_of_24.py`: the solution, the tree with the tokens of each node, and the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from treetop import Limit, Search, SearchResult
from treetop.results import Node

from .puzzle import TARGET, GameOf24, expression, is_solution, shown

WIDTH = 100
_WIDEST = (6, 3, 1)  # rows below a node, by its depth
_OTHERS = 2  # the number of subtrees besides the solution that are shown
_SHOWN = 4  # the number of failures and rejected steps that are shown

Path = tuple[Any, ...]  # of steps


@dataclass(frozen=True)
class Tokens:
    """The tokens of each node, and of its subtree."""

    own: Counter[Path]
    whole: Counter[Path]

    @classmethod
    def of(cls, result: SearchResult) -> Tokens:
        """Return the sums over the log of calls."""
        own: Counter[Path] = Counter()
        whole: Counter[Path] = Counter()
        for call in result.call_log:
            own[call.path] += round(call.cost)
            for length in range(len(call.path) + 1):
                whole[call.path[:length]] += round(call.cost)
        return cls(own, whole)


def solution_of(search: Search) -> Path | None:
    """Return the steps to a state that is 24, or None if the search has found none."""
    for node in search.tree.root.walk():
        if search.state_of(node.index) == (TARGET,):
            return path_of(search, node)
    return None


def path_of(search: Search, node: Node) -> Path:
    """Return the steps that lead to a node."""
    steps: list[Any] = []
    at: Node | None = node
    while at is not None and at.parent is not None:
        steps.append(search.action_of(at.index))
        at = at.parent
    return tuple(reversed(steps))


def show(search: Search, result: SearchResult, limit: Limit, source: str, console: Console | None = None) -> None:
    """Print the whole output."""
    if console is None:
        console = Console(highlight=False)
        console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    solution = solution_of(search)
    console.print()
    console.print(_answer(search, result, solution))
    console.print(_tree(search, result, solution or ()))
    console.print(_bill(result, limit, source))


def _answer(search: Search, result: SearchResult, solution: Path | None) -> Panel:
    game: GameOf24 = search.problem  # type: ignore[assignment]
    title = f"[bold]game of 24[/]  [cyan]{shown(game.numbers)}[/]"
    if solution is None:
        if result.failures:
            text = f"no solution was found; {len(result.failures):,} positions failed and were not searched"
        elif result.proof is None:
            text = "no solution was found within the budget"
        else:
            text = "24 cannot be made from these numbers: every path was searched"
        return Panel(
            Text(text, style="bold yellow"),
            title=title,
            title_align="left",
            box=box.ROUNDED,
            padding=(1, 2),
            border_style="yellow",
        )
    answer = expression(game.numbers, solution)
    assert is_solution(answer, game.numbers), answer
    lines = [
        Text.assemble((answer, "bold green"), (f" = {TARGET}", "green"), ("   checked with exact fractions", "dim")),
        Text(),
    ]
    state = game.initial()
    for number, step in enumerate(solution, 1):
        state = game.step(state, step)
        lines.append(Text.assemble((f"{number}  ", "dim"), f"{step!s:<24}", ("leaves ", "dim"), (shown(state), "cyan")))
    return Panel(Group(*lines), title=title, title_align="left", box=box.ROUNDED, padding=(1, 2), border_style="green")


def _tree(search: Search, result: SearchResult, solution: Path) -> Table:
    table = Table(box=box.SIMPLE_HEAD, expand=True, header_style="dim", pad_edge=False)
    table.add_column("step", ratio=1, no_wrap=True)
    for name in ("visits", "value", "prior", "tokens", "with below"):
        table.add_column(name, justify="right", no_wrap=True)
    tokens = Tokens.of(result)
    table.add_row(
        Text(shown(search.state), style="bold cyan"),
        f"{search.simulations:,}",
        f"{result.value:.3f}",
        "",
        f"{tokens.own[()]:,}",
        f"{tokens.whole[()]:,}",
    )
    for guide, node in _rows(search.tree.root, search, solution, "", 0):
        if node is None:
            table.add_row(Text(guide, style="dim"), *[""] * 5)
            continue
        path = path_of(search, node)
        table.add_row(
            _label(search, node, path, guide, solution),
            f"{node.visits:,}",
            "" if node.value is None else f"{node.value:.3f}",
            f"{node.prior:.3f}",
            f"{tokens.own[path]:,}" if tokens.own[path] else "[dim]-[/]",
            f"{tokens.whole[path]:,}" if tokens.whole[path] else "[dim]-[/]",
        )
    return table


def _label(search: Search, node: Node, path: Path, guide: str, solution: Path) -> Text:
    solves = solution[: len(path)] == path
    label = Text.assemble((guide, "dim"), (str(path[-1]), "bold green" if solves else ""))
    if node.is_terminal:
        return label.append("  24!" if solves else "  not 24", "green" if solves else "dim")
    if any(failure.path == path for failure in search.failures):
        return label.append("  failed", "red")
    return label.append("  dead end", "red") if is_dead_end(search, node) else label


def is_dead_end(search: Search, node: Node) -> bool:
    """Return whether every path from here was searched, and none led to 24."""
    if node.is_terminal:
        return bool(search.state_of(node.index) != (TARGET,))
    return not node.is_leaf and all(is_dead_end(search, child) for child in node.children)


def _rows(node: Node, search: Search, solution: Path, indent: str, depth: int) -> Iterator[tuple[str, Node | None]]:
    """Yield the most visited nodes and those of the solution, with their guides; None stands for the others."""
    dead = {failure.path for failure in search.failures}
    children = [child for child in node.children if child.visits or (dead and path_of(search, child) in dead)]
    solving = [child for child in children if depth < len(solution) and path_of(search, child) == solution[: depth + 1]]
    children.sort(key=lambda child: (child not in solving, -child.visits, -child.prior))
    kept = children[: _WIDEST[min(depth, len(_WIDEST) - 1)]]
    left = len(node.children) - len(kept)
    for number, child in enumerate(kept):
        last = number == len(kept) - 1 and not left
        yield indent + ("└─ " if last else "├─ "), child
        if child in solving or (depth < 1 and number <= _OTHERS):
            yield from _rows(child, search, solution, indent + ("   " if last else "│  "), depth + 1)
    if left and node.children:
        tried = len(children) - len(kept)
        yield f"{indent}└─ {left:,} more" + (f", {tried:,} of them tried" if tried else ""), None


def _bill(result: SearchResult, limit: Limit, source: str) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    table.add_row("adviser", source)
    if (budget := limit.cost) is not None:
        spent = Table.grid(padding=(0, 2))
        bar = ProgressBar(
            total=budget, completed=min(result.cost, budget), width=24, complete_style="green", finished_style="yellow"
        )
        left = budget - result.cost
        spent.add_row(
            bar,
            f"[bold]{result.cost:,.0f}[/] of {budget:,.0f} spent, {max(left, 0):,.0f} left"
            + (f", {-left:,.0f} over by the last calls in flight" if left < 0 else ""),
        )
        table.add_row("tokens", spent)
    free = sum(call.cost == 0 and call.error is None for call in result.call_log)
    again = sum(call.attempts - 1 for call in result.call_log)
    given_up = result.calls - again - len(result.call_log)
    more = [
        f"{again:,} retries" if again else "",
        f"{free:,} free from the cache" if free and result.cost else "",
        f"{given_up:,} cancelled at the end" if given_up else "",
    ]
    table.add_row("calls", f"[bold]{result.calls:,}[/]" + "".join(f", {part}" for part in more if part))
    rejected = [line for call in result.call_log for line in (call.note or {}).get("rejected", [])]
    table.add_row("rejected", f"[bold]{len(rejected):,}[/] proposed steps" + _some(rejected))
    if result.failures:
        table.add_row(
            "failed",
            Text(
                f"{len(result.failures):,} positions: "
                + "; ".join(str(failure) for failure in result.failures[:_SHOWN]),
                style="red",
            ),
        )
    table.add_row("ended", f"{result.stopped}, after {result.elapsed:.2f} s")
    return Panel(table, box=box.ROUNDED, title="cost", title_align="left", border_style="dim")


def _some(lines: list[str]) -> str:
    text = ", ".join(line.partition("|")[0].strip() for line in lines[:_SHOWN])
    return f" [dim]({text}{', ...' if len(lines) > _SHOWN else ''})[/]" if lines else ""
