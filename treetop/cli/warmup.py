"""`treetop warmup`: compile games before anybody waits for them."""

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

Clear = Annotated[bool, typer.Option("--clear", help="Empty the cache first.")]


def warmup(games: GameNames = None, clear: Clear = False, as_json: Json = False) -> None:
    """Compile games into the cache, so that their first search starts at once. Where nothing can be kept it stops at the first game."""
    from treetop.compiler.cache import cache_folder

    found = find_games(games)
    removed = _clear(cache_folder()) if clear else 0
    rows: list[_Row] = []
    with counting("compiling", len(found)) as count, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of code that is not kept: that is the error at the end
        for done, game in enumerate(found):
            count(done, game.name)
            rows.append(_Row(game.name, *prepare(game), game.engine().unkept))
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
        say(f"cache: {folder}" + (f", cleared of {removed} games" if clear else ""))
    if rows[-1].unkept is not None:
        raise SaveError(f"{rows[-1].game} will be compiled again by the next process: {rows[-1].unkept}")


class _Row(NamedTuple):
    """One game: how long its code took, and where it is."""

    game: str
    seconds: float
    from_cache: bool
    unkept: str | None
    """Why the code is not in the cache; None where it is."""

    @property
    def origin(self) -> str:
        return "from cache" if self.from_cache else "compiled" if self.unkept is None else "compiled, not kept,"

    def to_dict(self) -> dict[str, Any]:
        return {"game": self.game, "seconds": self.seconds, "from_cache": self.from_cache, "kept": self.unkept is None}


def prepare(game: Game, clock: Callable[[], float] = time.perf_counter) -> tuple[float, bool]:
    """Make a game ready to be searched: the seconds that took, and whether the code lay in the cache."""
    import treetop.compiler.lowering  # noqa: F401  Numba's own loading time is nobody's, least of all the first game's
    from treetop.search.search import Search

    search = Search(first_choice(game))
    start = clock()
    search.prepare()
    return clock() - start, from_cache(search)


def _draw(rows: list[_Row], folder: str, removed: int) -> None:
    shown = table("game", "seconds", "code", left=("code",))
    for row in rows:
        shown.add_row(row.game, f"{row.seconds:.2f}", row.origin.rstrip(","))
    console = screen()
    console.print(shown)
    console.print()
    console.print(facts({"cache": folder, **({"cleared": f"{removed} games"} if removed else {})}))


def _clear(folder: Path) -> int:
    """Remove what Treetop put into a folder and nothing else; how many games' code it was."""
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
