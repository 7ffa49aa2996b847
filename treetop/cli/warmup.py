"""`treetop warmup`: compile games before anybody waits for them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from treetop.cli.common import GameNames, Json, counting, facts, find_games, from_cache, say, say_json, screen, table
from treetop.game.definition import Game
from treetop.game.position import first_choice

_OURS = re.compile(r".*-[0-9a-f]{16}(\.lock)?")
_KERNELS = (".kernel", ".part")

Clear = Annotated[bool, typer.Option("--clear", help="Empty the cache first.")]


def warmup(games: GameNames = None, clear: Clear = False, as_json: Json = False) -> None:
    """Compile games into the cache, so that their first search starts at once."""
    from treetop.compiler.cache import cache_folder

    found = find_games(games)
    removed = _clear(cache_folder()) if clear else 0
    rows = []
    with counting("compiling", len(found)) as count:
        for done, game in enumerate(found):
            count(done, game.name)
            rows.append((game.name, *prepare(game)))
        count(len(found), "")
    folder = str(cache_folder())
    if as_json:
        named = [{"game": name, "seconds": seconds, "from_cache": cached} for name, seconds, cached in rows]
        say_json({"folder": folder, "removed": removed, "games": named})
    elif screen().is_terminal:
        _draw(rows, folder, removed)
    else:
        for name, seconds, cached in rows:
            say(f"{name}: {_origin(cached)} in {seconds:.2f} s")
        say(f"cache: {folder}" + (f", cleared of {removed} games" if clear else ""))


def prepare(game: Game, clock: Callable[[], float] = time.perf_counter) -> tuple[float, bool]:
    """Make a game ready to be searched: the seconds that took, and whether the code lay in the cache."""
    import treetop.compiler.lowering  # noqa: F401  Numba's own loading time is nobody's, least of all the first game's
    from treetop.search.search import Search

    search = Search(first_choice(game))
    start = clock()
    search.prepare()
    return clock() - start, from_cache(search)


def _origin(cached: bool) -> str:
    return "from cache" if cached else "compiled"


def _draw(rows: list[tuple[str, float, bool]], folder: str, removed: int) -> None:
    shown = table("game", "seconds", "code", left=("code",))
    for name, seconds, cached in rows:
        shown.add_row(name, f"{seconds:.2f}", _origin(cached))
    console = screen()
    console.print(shown)
    console.print()
    console.print(facts({"cache": folder, **({"cleared": f"{removed} games"} if removed else {})}))


def _clear(folder: Path) -> int:
    """Remove what Treetop put into a folder and nothing else; how many games' code it was."""
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
