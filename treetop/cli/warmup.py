"""`treetop warmup`: compile games ahead of their first search."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from treetop.cli.common import (
    Json,
    counting,
    facts,
    find_game,
    from_cache,
    say,
    say_json,
    screen,
    table,
)
from treetop.errors import SaveError
from treetop.game.choices import first_choice
from treetop.game.definition import Game
from treetop.game.registry import BUNDLED

_OURS = re.compile(r".*-[0-9a-f]{16}(\.lock)?")
_KERNELS = (".kernel", ".part")

PYTHON_PROBLEM = "python_problem"
"""The name of the loop for problems of Python objects."""

Clear = Annotated[bool, typer.Option("--clear", help="Clear the cache first.")]


Games = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="GAMES",
        help=f"Default: all bundled games and {PYTHON_PROBLEM}, the search of your own Python objects.",
        show_default=False,
    ),
]


def warmup(games: Games = None, clear: Clear = False, as_json: Json = False) -> None:
    """Compile games into the cache, so that their first search starts without delay.

    A game is prepared for the default settings on both tiers, and for the recommended ones. If the cache cannot be
    written, it stops after the first game.
    """
    from treetop.compiler.cache import cache_folder

    names = games or [*sorted(BUNDLED), PYTHON_PROBLEM]
    found = [None if name == PYTHON_PROBLEM else find_game(name) for name in names]
    removed = _clear(cache_folder()) if clear else 0
    rows: list[_Row] = []
    with counting("compiling", len(found)) as count, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an unwritable cache is the error at the end
        for done, game in enumerate(found):
            count(done, PYTHON_PROBLEM if game is None else game.name)
            rows.append(_prepare_problems() if game is None else _Row(game.name, *prepare(game), game.unkept))
            if rows[-1].unkept is not None:
                break
        count(len(found), "")
    folder = str(cache_folder())
    if as_json:
        say_json({"folder": folder, "removed": removed, "games": [row.to_dict() for row in rows]})
    elif screen().is_terminal:
        _draw(rows, folder, removed)
    else:
        for row in rows:
            say(f"{row.game}: {row.origin} in {row.seconds:.2f} s")
        say(f"cache: {folder}" + (f", {removed} games removed" if clear else ""))
    if rows[-1].unkept is not None:
        raise SaveError(f"{rows[-1].game} will be compiled again by the next process: {rows[-1].unkept}")


class _Row(NamedTuple):
    """One game: the time to prepare its code, and the origin of the code."""

    game: str
    seconds: float
    from_cache: bool
    unkept: str | None
    """Why the code is not in the cache; None if it is."""

    @property
    def origin(self) -> str:
        return "from cache" if self.from_cache else "compiled" if self.unkept is None else "compiled, not saved,"

    def to_dict(self) -> dict[str, Any]:
        return {"game": self.game, "seconds": self.seconds, "from_cache": self.from_cache, "kept": self.unkept is None}


def prepare(
    game: Game,
    clock: Callable[[], float] = time.perf_counter,
    tiers: tuple[str, ...] = ("indirect", "direct"),
    *,
    recommended: bool = True,
) -> tuple[float, bool]:
    """Prepare a game for a search on some tiers; return the seconds it took, and whether all came from the cache.

    With `recommended`, also prepare the recommended settings, on the first of these tiers.
    """
    import treetop.compiler.lowering  # noqa: F401  so that the time to import Numba is not counted for the first game
    from treetop.players.rules import parse_rule, recommended_rule
    from treetop.search.evaluator import make_evaluator
    from treetop.search.search import Search

    position = first_choice(game)
    start = clock()
    searches = [Search(position, tier=tier) for tier in tiers]
    rule = recommended_rule(game, None) if recommended else None
    if rule is not None:
        config, evaluator = parse_rule(rule, None)
        searches.append(Search(position, config, evaluator=make_evaluator(evaluator or "rollout"), tier=tiers[0]))
    for search in searches:
        search.prepare()
    return clock() - start, all(map(from_cache, searches))


def _prepare_problems() -> _Row:
    """Compile the loop for problems of Python objects: both builds, for one evaluation at a time and for many."""
    import treetop.compiler.lowering  # noqa: F401  so that the time to import Numba is not counted
    from treetop.kernels.no_game import NO_GAME
    from treetop.search.evaluator import Rollout
    from treetop.search.presets import PRESETS, uct
    from treetop.search.problems.driver import ProblemDriver

    start, known = time.perf_counter(), True
    for config in (uct(), PRESETS["thompson"]()):  # the small build and the full one
        nodes = ProblemDriver(_OneStep(), config, Rollout(), 0, None).nodes
        for in_flight in (False, True):
            if in_flight:
                nodes.tree.track_in_flight()
            nodes.prepare_kernel(in_flight=in_flight)
            nodes.set_budget(0)
            nodes.simulate()
            known = known and nodes.from_cache
    return _Row(PYTHON_PROBLEM, time.perf_counter() - start, known, NO_GAME.unkept)


class _OneStep:
    """A problem with one step, to compile the loop."""

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> list[int]:  # noqa: ARG002 - all states have one action
        return [1]

    def step(self, state: int, action: int) -> int:
        return state + action

    def is_terminal(self, state: int) -> bool:
        return state > 0

    def rewards(self, state: int) -> float:  # noqa: ARG002 - all ends are equal
        return 0.0


def _draw(rows: list[_Row], folder: str, removed: int) -> None:
    shown = table("game", "seconds", "code", left=("code",))
    for row in rows:
        shown.add_row(row.game, f"{row.seconds:.2f}", row.origin.rstrip(","))
    console = screen()
    console.print(shown)
    console.print()
    console.print(facts({"cache": folder, **({"cleared": f"{removed} games"} if removed else {})}))


def _clear(folder: Path) -> int:
    """Remove the files of Treetop from a folder, and return the number of games they belonged to."""
    try:
        return _remove(folder)
    except OSError as error:
        raise SaveError(
            f"the cache {folder} cannot be cleared: {error.strerror or error} ({error.filename})"
        ) from error


def _remove(folder: Path) -> int:
    removed = 0
    for entry in folder.iterdir() if folder.is_dir() else ():
        if not _OURS.fullmatch(entry.name) or entry.is_symlink():
            continue
        if entry.is_dir():
            for file in entry.iterdir():
                if file.suffix in _KERNELS and file.is_file():
                    file.unlink(missing_ok=True)
            if not any(entry.iterdir()):
                entry.rmdir()
            removed += 1
        elif entry.suffix == ".lock":
            entry.unlink(missing_ok=True)
    return removed
