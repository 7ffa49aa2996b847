"""`treetop match`: play many games between players, and compare their strength."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from treetop import checks
from treetop.arena.players_file import find_player, read_players
from treetop.arena.sprt import Model, Sprt
from treetop.cli.common import (
    BAR,
    CHOSEN,
    FAINT,
    Json,
    On,
    Seed,
    add_current_folder,
    errors,
    facts,
    find_game,
    refuse_missing_folder,
    say,
    say_json,
    screen,
    table,
)
from treetop.errors import ConfigError
from treetop.players.clock import TimeControl
from treetop.workers.places import on_cluster

if TYPE_CHECKING:
    from treetop.arena.many import ManyResult
    from treetop.arena.matches import MatchProgress
    from treetop.arena.result import MatchResult


class Result(Protocol):
    """The result of many games."""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""


R = TypeVar("R", bound=Result)

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in the shell."""

_LINES_EVERY = 10.0  # seconds between plain lines, if stderr is not a terminal
_FRAMES_EVERY = 0.1

_OPENINGS, _TEST = "Openings", "Sequential test"
_HELP_PLAYER = "A player: uct(simulations=1000), random, greedy, alphabeta(depth=4), ..., or a name from --players."
Specs = Annotated[
    list[str],
    typer.Argument(metavar="PLAYERS", help=f"One for each player of the game. {_HELP_PLAYER}", show_default=False),
]
GameOption = Annotated[str, typer.Option("--game", metavar="GAME", help="The game.", show_default=False)]
Games = Annotated[
    int | None,
    typer.Option(
        "--games",
        metavar="N",
        help="The greatest number of games, a multiple of the number of players. Default: about 100.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="The number of processes. Default: one a core, or a CPU of the cluster; 1 is this process.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE.jsonl", help="Save the games; a match in the file is continued."),
]
PlayersFile = Annotated[
    Path | None, typer.Option("--players", metavar="FILE.toml", help="Players by name: \\[players.NAME] spec = ...")
]
TrustPlayers = Annotated[
    bool, typer.Option("--trust-players", help="Allow the file of --players to import modules and run programs.")
]
MakePlayer = Annotated[
    str | None,
    typer.Option(
        "--make-player",
        metavar="MODULE:FUNCTION",
        help="Your function under @treetop.player that makes the players: (spec, game) -> Player.",
    ),
]
Deadline = Annotated[
    float | None, typer.Option("--move-deadline", metavar="S", help="A move that takes longer loses the game.")
]
Clock = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="S+I",
        help="Seconds of each player for a game, and those added after each move: 60+1. A lost clock loses the game.",
    ),
]
OpeningsFile = Annotated[
    Path | None,
    typer.Option(
        "--openings",
        metavar="FILE",
        help="Begin with the openings of a file: in each line moves, or a position (FEN, EPD, SFEN, a diagram); or the "
        "games of a .pgn or .sgf file.",
        rich_help_panel=_OPENINGS,
    ),
]
OpeningOrder = Annotated[
    str,
    typer.Option(
        "--opening-order",
        metavar="ORDER",
        help="The order of --openings: file, or random by the seed.",
        rich_help_panel=_OPENINGS,
    ),
]
Plies = Annotated[
    int | None,
    typer.Option(
        "--opening-plies",
        metavar="K",
        help="Random moves at the start (default: depends on the game); with --openings the most moves of each.",
        rich_help_panel=_OPENINGS,
    ),
]
AnyOpening = Annotated[
    bool, typer.Option("--any-opening", help="Use unbalanced openings too.", rich_help_panel=_OPENINGS)
]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--sprt",
        metavar="E0 E1",
        help="Stop when it is decided whether A is E0 or E1 Elo stronger.",
        rich_help_panel=_TEST,
    ),
]
SprtModel = Annotated[Model, typer.Option("--sprt-model", help="The unit of E0 and E1.", rich_help_panel=_TEST)]
Alpha = Annotated[
    float,
    typer.Option("--alpha", metavar="X", help="The probability of accepting E1 wrongly.", rich_help_panel=_TEST),
]
Beta = Annotated[
    float,
    typer.Option("--beta", metavar="X", help="The probability of accepting E0 wrongly.", rich_help_panel=_TEST),
]


def match(
    specs: Specs,
    game: GameOption,
    games: Games = None,
    seed: Seed = 0,
    workers: Workers = None,
    on: On = None,
    out: Out = None,
    players: PlayersFile = None,
    trust_players: TrustPlayers = False,
    make_player: MakePlayer = None,
    move_deadline: Deadline = None,
    clock: Clock = None,
    openings: OpeningsFile = None,
    opening_order: OpeningOrder = "file",
    opening_plies: Plies = None,
    any_opening: AnyOpening = False,
    sprt: Bounds = None,
    sprt_model: SprtModel = Model.normalized,
    alpha: Alpha = 0.05,
    beta: Beta = 0.05,
    as_json: Json = False,
) -> None:
    """Play many games between players, and report which is stronger, by how much, and the uncertainty.

    Each opening and each deal is played twice, with swapped seats; with three or more players, once from every seat.
    With --out every finished game is saved, and the same command continues after Ctrl-C or a crash, with the same
    result.
    """
    from treetop.arena.matches import match as play_two
    from treetop.arena.matches import match_many, need_two
    from treetop.arena.playing import MAKE_PLAYER

    test = None if sprt is None else Sprt(*sprt, alpha=alpha, beta=beta, model=sprt_model)
    add_current_folder(*specs, make_player)
    found = find_game(game)
    refuse_missing_folder(out)
    named = read_named(players, trusted=trust_players or make_player is not None)
    names, texts = zip(*(find_player(text, named) for text in specs), strict=True)
    check_workers(workers, on)
    many = found.facts.players
    if many < 3:
        need_two(found)
    if len(specs) != many:
        raise ConfigError(f"{found.name} has {many} players: name {many} of them, not {len(specs)}")
    if many > 2 and test is not None:
        raise ConfigError(f"--sprt compares two players, but {found.name} has {many}: remove it")
    wanted = 100 - 100 % many if games is None else games
    common: dict[str, Any] = {
        "games": wanted,
        "seed": seed,
        "workers": workers,
        "on": on,
        "out": out,
        "openings": openings,
        "opening_order": opening_order,
        "opening_plies": opening_plies,
        "balanced": not any_opening,
        "move_deadline": move_deadline,
        "clock": TimeControl.of(clock),
        "make_player": make_player or MAKE_PLAYER,
        "names": names,
    }
    result: MatchResult | ManyResult
    with progress_line(f"{found.name}: {' - '.join(names)}", wanted) as show:
        if many == 2:
            result = play_two(
                texts[0],
                texts[1],
                found,
                sprt=test,
                progress=lambda now: show(now.finished, lambda: _standing(now)),
                **common,
            )
        else:
            result = match_many(texts, found, progress=lambda now: show(now.finished, lambda: _means(now)), **common)
    print_result(result, _draw, out, as_json=as_json)


def check_workers(workers: int | None, on: str | None = None) -> None:
    """Raise ConfigError for an invalid number or place of workers, before the work starts."""
    checks.whole("--workers", workers, 0, optional=True)
    on_cluster(on)


@contextmanager
def progress_line(
    what: str, total: int, unit: str = "games", first: str = "starting the players"
) -> Iterator[Callable[[int, Callable[[], str]], None]]:
    """Show a live line on a terminal, or a plain line from time to time, on stderr.

    Yield a function of the number of units done and a function that returns the text.
    """
    console = errors()
    if not console.is_terminal:
        yield _plain_lines(what, total, unit)
        return
    # Names are not markup: `[x]` and `:b:` are shown unchanged.
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20, style=FAINT, complete_style=BAR, finished_style=BAR),
        MofNCompleteColumn(),
        TextColumn("{task.fields[line]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as drawn:
        task = drawn.add_task(what, total=total, line=first)
        drawn.refresh()
        due = 0.0

        def show(done: int, text: Callable[[], str]) -> None:
            nonlocal due
            if time.monotonic() >= due or done == total:
                drawn.update(task, completed=done, line=text())
                drawn.refresh()
                due = time.monotonic() + _FRAMES_EVERY

        yield show


def _plain_lines(what: str, total: int, unit: str) -> Callable[[int, Callable[[], str]], None]:
    due = time.monotonic() + _LINES_EVERY

    def show(done: int, text: Callable[[], str]) -> None:
        nonlocal due
        if time.monotonic() >= due:
            errors().print(f"{what}: {done:,} of {total:,} {unit}, {text()}", soft_wrap=True)
            due = time.monotonic() + _LINES_EVERY

    return show


def read_named(players: Path | None, *, trusted: bool) -> dict[str, str]:
    """Return the players of the file of --players, by name; empty without a file."""
    named = {} if players is None else read_players(players, trusted=trusted)
    add_current_folder(*named.values())
    return named


def read_roster(texts: list[str], players: Path | None, *, trusted: bool) -> dict[str, str]:
    """Return the specs of players by name. Each name must be unique."""
    named = read_named(players, trusted=trusted)
    roster = dict(find_player(text, named) for text in texts)
    if len(roster) < len(texts):
        raise ConfigError("a player is named twice; use --players to give equal players different names")
    return roster


def print_result(result: R, draw: Callable[[R], None], out: Path | None, *, as_json: bool) -> None:
    """Print a result as JSON, as tables on a terminal, or as text; after Ctrl-C also how to continue."""
    if as_json:
        say_json(result.to_dict())
    elif screen().is_terminal:
        draw(result)
    else:
        say(str(result))
    if result.interrupted:
        print_how_to_continue(out)


def print_how_to_continue(out: Path | None, unit: str = "games") -> None:
    """Print how to continue after Ctrl-C, and exit with the code of the shell."""
    if out is None:
        errors().print(
            f"interrupted; the {unit} were not saved: use --out to be able to continue later",
            style=FAINT,
            soft_wrap=True,
        )
    else:
        errors().print(f"interrupted; continue with:  treetop {shlex.join(sys.argv[1:])}", style=FAINT, soft_wrap=True)
    raise typer.Exit(INTERRUPTED)


def pace(rate: float, left: int) -> str:
    """Return the speed and the remaining time as text."""
    if rate <= 0:
        return ""
    seconds = round(left / rate)
    clock = (
        f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        if seconds >= 3600
        else f"{seconds // 60}:{seconds % 60:02}"
    )
    return f"{rate:.3g} games/s, {clock} left"


def _standing(now: MatchProgress) -> str:
    result = now.result
    test = (
        ""
        if result.sprt is None
        else f"  LLR {result.sprt.llr:+.2f} ({result.sprt.sprt.lower:.2f}, {result.sprt.sprt.upper:.2f})"
    )
    lost = sum(result.forfeits.values())
    forfeits = f"  {lost} by forfeit" if lost else ""
    return (
        f"+{result.wins} ={result.draws} -{result.losses}  Elo {result.rating.elo.signed()}{test}{forfeits}  "
        f"{pace(now.rate, result.asked - result.finished)}"
    )


def _means(now: MatchProgress) -> str:
    from treetop.stats import format_number

    return (
        f"means {', '.join(format_number(value) for value in now.result)}  {pace(now.rate, now.asked - now.finished)}"
    )


def _draw(result: MatchResult | ManyResult) -> None:
    console = screen()
    head, rows = result.rows()
    made = table(*head)
    ahead = result.leader
    for number, row in enumerate(rows):
        made.add_row(*row, style=CHOSEN if number == ahead else None)
    console.print(result.title(), soft_wrap=True)
    console.print()
    console.print(made)
    console.print()
    console.print(facts({**result.facts(), **({"games": os.fspath(result.out)} if result.out else {})}))
