"""The shared parts of the commands: consoles, common options, errors as exit codes, progress lines."""

from __future__ import annotations

import functools
import math
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

from treetop.errors import ConfigError, GameError, SaveError, TreetopError
from treetop.game.definition import Game
from treetop.game.registry import BUNDLED, load_game
from treetop.text import json_text

if TYPE_CHECKING:
    from treetop.search.limits import Limit
    from treetop.search.progress import Progress as Standing
    from treetop.search.result import SearchResult
    from treetop.search.search import Search

P = ParamSpec("P")

USAGE, FAILURE = 2, 1
"""Exit codes: wrong input; a failure with right input."""

CHOSEN = "bold green"
BAR = "green"
FAINT = "dim"


LIMITS, SEARCH = "Limits", "How to search"  # headings of `--help`

# Options with the same name have the same meaning in every command. Their ranges are checked where they are used, so
# that a library call and a command give the same error.
_HELP_GAME = (
    "A name (othello), a name with parameters ('hex(size=7)'), or your own: module:Name or folder/file.py:Name."
)
GameName = Annotated[str, typer.Argument(metavar="GAME", help=_HELP_GAME, show_default=False)]
MaybeGameName = Annotated[str | None, typer.Argument(metavar="GAME", help=_HELP_GAME, show_default=False)]
GameNames = Annotated[
    list[str] | None, typer.Argument(metavar="GAMES", help="Default: all bundled games.", show_default=False)
]
Moves = Annotated[str | None, typer.Option("--moves", metavar="MOVES", help="Moves played from the start: '4 4 5'.")]
Simulations = Annotated[
    int | None, typer.Option("--simulations", metavar="N", help="Run at most N simulations.", rich_help_panel=LIMITS)
]
Seconds = Annotated[
    float | None, typer.Option("--seconds", metavar="S", help="Run at most S seconds.", rich_help_panel=LIMITS)
]
Threads = Annotated[
    int,
    typer.Option("--threads", metavar="N", help="Threads that search one tree. Default: 1.", rich_help_panel=SEARCH),
]
_HELP_RULE = (
    "uct, puct, grave, gumbel, ...; with options in brackets: 'grave(amaf_reference=50, solver=True)'. "
    "Default: the rule, options and evaluator that are recommended for a bundled game, else uct."
)
RuleName = Annotated[str | None, typer.Option("--rule", metavar="RULE", help=_HELP_RULE, rich_help_panel=SEARCH)]
Exploration = Annotated[
    float | None, typer.Option("--c", metavar="X", help="The rule's exploration factor.", rich_help_panel=SEARCH)
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Equal seeds give equal results.")]
MaybeSeed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Equal seeds give equal results.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON.")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="PLACE",
        help="Where the workers are: processes (default), ray (the Ray cluster that runs here, else a local one), or "
        "ray://host:port.",
    ),
]


def errors_as_exit_codes(command: Callable[P, None]) -> Callable[P, None]:
    """Return a command that turns Treetop errors into a message on stderr and an exit code, without a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except TreetopError as error:
            print_error(error)
            raise typer.Exit(USAGE if isinstance(error, (ValueError, GameError)) else FAILURE) from None

    return run


def print_error(error: TreetopError) -> None:
    """Print an error on stderr, without wrapping, so that boards in it stay intact."""
    errors().print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)


def screen() -> Console:
    """Return a console for stdout. It is created on each call, because stdout may have been replaced."""
    return Console(highlight=False, markup=False, emoji=False)


def errors() -> Console:
    """Return a console for stderr, which progress and errors share."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(text: str = "") -> None:
    """Print a plain line, or several."""
    typer.echo(text)


def say_json(value: Any) -> None:
    """Print a value as JSON."""
    say(json_text(value))


def add_current_folder(*texts: str | None) -> None:
    """Add the current folder to the import path, as `python -m` does, if one of the arguments is `module:name`."""
    here = str(Path.cwd())
    if here not in sys.path and any(":" in (text or "").partition("(")[0] for text in texts):
        sys.path.insert(0, here)


def find_game(spec: str) -> Game:
    """Return the game with a name."""
    add_current_folder(spec)
    return load_game(spec)


def game_argument(game: Game) -> str:
    """Return the argument that --load or --resume needs: empty for a bundled game, else the name of the game.

    A file may not import modules, so a user's game must be named on the command line.
    """
    source = game.source or ""
    return f"{shlex.quote(source)} " if ":" in source.partition("(")[0] else ""


def find_games(specs: list[str] | None) -> list[Game]:
    """Return the games with these names; all bundled games if there are none."""
    return [find_game(spec) for spec in specs or sorted(BUNDLED)]


@contextmanager
def hangup_as_interrupt() -> Iterator[None]:
    """Handle SIGHUP and SIGTERM like Ctrl-C, so that a closed terminal loses nothing."""
    names = [name for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), signal.default_int_handler) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


@contextmanager
def naming_recommended(rule: str | None) -> Iterator[None]:
    """Add a line to a ConfigError about settings that were recommended, and not given."""
    try:
        yield
    except ConfigError as error:
        if rule is None:
            raise
        raise ConfigError(
            f"{error}\nthe rule {rule} is recommended for this game; --rule uct is the plain one"
        ) from None


def refuse_options_beside(option: str, others: dict[str, object]) -> None:
    """Raise ConfigError for options that would have no effect beside another one."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise ConfigError(f"{option} takes these settings from the file: remove {', '.join(given)}")


def refuse_missing_folder(path: Path | None, *, stream: bool = False) -> None:
    """Raise SaveError for a path to which nothing could be written later, before the work starts.

    What is written line by line, a `stream`, may go to a pipe or a device.
    """
    if path is None:
        return
    if path.is_dir():
        raise SaveError(f"{path} cannot be written: it is a folder")
    if not path.parent.is_dir():
        raise SaveError(f"{path} cannot be written: there is no folder {path.parent}")
    if not stream and path.exists() and not path.is_file():
        raise SaveError(f"{path} cannot be written: it is not an ordinary file")


def from_cache(search: Search) -> bool:
    """Return whether a prepared search runs code that an earlier process compiled."""
    # Only the tables of two commands need it, so it is not a public method.
    return search._driver.from_cache


def table(*headings: str, left: tuple[str, ...] = ()) -> Table:
    """Return an empty table: a line under the headings, numbers aligned right."""
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold")
    for index, heading in enumerate(headings):
        words = index == 0 or heading in left
        made.add_column(heading, justify="left" if words else "right", overflow="fold", no_wrap=not words)
    return made


def facts(rows: dict[str, str | Text]) -> Table:
    """Return names and their texts as two columns."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style=FAINT, no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows.items():
        made.add_row(name, value)
    return made


@contextmanager
def counting(what: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
    """Show a progress bar on a terminal, nothing elsewhere. Yield a function of the number done and a note."""
    console = errors()
    columns = (
        SpinnerColumn(style=BAR),
        TextColumn("{task.description}"),
        _bar(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(what, total=total, note="")

        def count(done: int, note: str) -> None:
            shown.update(task, completed=done, note=note)

        yield count


def run_with_progress(search: Search, limit: Limit, what: str = "searching") -> SearchResult:
    """Run a search; on a terminal, show a live line with progress, speed, the best move so far and its value."""
    console = errors()
    if not console.is_terminal:
        return search.run(limit)
    search.prepare(advance=False)  # before the live line, because compiling shows another line
    columns = (TextColumn("{task.description}"), _bar(), TextColumn("{task.fields[line]}"))
    # Drawn from the search's callback: a drawing thread would compete with the search for the interpreter.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as shown:
        task = shown.add_task(what, total=1.0, line="")
        before = search.tree.size

        def show(now: Standing) -> None:
            shown.update(
                task, completed=_share(now, search.tree.size - before), line=_standing(now, search.position.player)
            )
            shown.refresh()

        return search.run(limit, progress=show)


def _bar() -> BarColumn:
    return BarColumn(bar_width=20, style=FAINT, complete_style=BAR, finished_style=BAR)


def _share(now: Standing, nodes: int) -> float:
    """Return the used share of the limit that will end the search first."""
    limit = now.limit
    used = ((now.simulations, limit.simulations), (now.elapsed, limit.seconds), (nodes, limit.nodes))
    return min(1.0, max(part / (whole or math.inf) for part, whole in used))


def _standing(now: Standing, player: int) -> str:
    return f"{now.simulations:,} simulations, {now.rate:,.0f}/s, best {now.best} ({now.value:+.3f} for player {player})"
