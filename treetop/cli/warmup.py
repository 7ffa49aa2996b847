"""`treetop warmup`: compile games ahead of their first search."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from treetop.cli.common import GameNames, Json, counting, facts, find_games, from_cache, say, say_json, screen, table
from treetop.errors import SaveError
from treetop.game.definition import Game
from treetop.game.position import first_choice

_OURS = re.compile(r".*-[0-9a-f]{16}(\.lock)?")
_KERNELS = (".kernel", ".part")

Clear = Annotated[bool, typer.Option("--clear", help="Clear the cache first.")]


def warmup(games: GameNames = None, clear: Clear = False, as_json: Json = False) -> None:
    """Compile games into the cache, so that their first search starts without delay.

    If the cache cannot be written, it stops after the first game.
    """
    from treetop.compiler.cache import cache_folder

    found = find_games(games)
    removed = _clear(cache_folder()) if clear else 0
    rows: list[_Row] = []
    with counting("compiling", len(found)) as count, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an unwritable cache is the error at the end
        for done, game in enumerate(found):
            count(done, game.name)
            rows.append(_Row(game.name, *prepare(game), game.unkept))
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
    game: Game, clock: Callable[[], float] = time.perf_counter, tiers: tuple[str, ...] = ("indirect", "direct")
) -> tuple[float, bool]:
    """Prepare a game for a search on some tiers; return the seconds it took, and whether all came from the cache."""
    import treetop.compiler.lowering  # noqa: F401  so that the time to import Numba is not counted for the first game
    from treetop.search.search import Search

    position = first_choice(game)
    start = clock()
    searches = [Search(position, tier=tier) for tier in tiers]
    for search in searches:
        search.prepare()
    return clock() - start, all(map(from_cache, searches))


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
