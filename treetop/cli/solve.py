"""`treetop solve`: prove the exact value of a position and of every move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn
from rich.text import Text

from treetop.cli.common import (
    BAR,
    CHOSEN,
    GameName,
    Json,
    Moves,
    Seconds,
    errors,
    facts,
    find_game,
    say,
    say_json,
    screen,
    table,
)
from treetop.errors import SearchError
from treetop.game.registry import position

if TYPE_CHECKING:
    from treetop.oracle.solve import Solution, SolveProgress

Setup = Annotated[
    str | None, typer.Option("--setup", metavar="DIAGRAM", help="Start from a diagram as the game prints it.")
]


def solve(
    game: GameName, moves: Moves = None, setup: Setup = None, seconds: Seconds = None, as_json: Json = False
) -> None:
    """Solve a position: who wins under perfect play, by which moves, and how soon.

    Connect Four has a special solver; other games are searched to their ends, so they must be small or nearly over. The
    exit code is 1 if the limit or Ctrl-C comes first: then nothing is proven.
    """
    from treetop.oracle.solve import solve as run_solver

    start = position(find_game(game), moves or "", setup=setup)
    try:
        with _live_line(start.game.name) as show:
            solution = run_solver(start, seconds=seconds, progress=show)
    except KeyboardInterrupt:
        raise SearchError(f"{start.game.name} was not solved before Ctrl-C; nothing is proven") from None
    if as_json:
        say_json(solution.to_dict())
    elif screen().is_terminal:
        _draw(solution)
    else:
        say(str(solution))


@contextmanager
def _live_line(name: str) -> Iterator[Callable[[SolveProgress], None] | None]:
    """Show a line with the progress of the proof on a terminal; nothing elsewhere."""
    console = errors()
    if not console.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(style=BAR), TextColumn("{task.description}"))
    # Drawn from the solver's callback: a drawing thread would compete with it for the interpreter.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as shown:
        task = shown.add_task(f"preparing {name} (compiled at its first use)")
        shown.refresh()

        def show(now: SolveProgress) -> None:
            effort = f"{now.nodes:,} positions, {now.rate:,.0f}/s, {now.elapsed:.1f} s"
            shown.update(task, description=f"solving {name}: {now.moves} of {now.all_moves} moves, {effort}")
            shown.refresh()

        yield show


def _draw(solution: Solution) -> None:
    console = screen()
    rows = table("move", "value", "perfect play", left=("perfect play",))
    for move in solution.ranked():
        best = (move.value, move.distance) == (solution.value, solution.distance)
        rows.add_row(move.move, f"{move.value:+g}", solution.describe(move), style=CHOSEN if best else None)
    console.print(f"{solution.position}\n", soft_wrap=True)
    console.print(rows)
    console.print()
    console.print(facts({"result": Text(solution.summary(), CHOSEN), "proof": solution.effort()}))
