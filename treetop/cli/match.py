"""`treetop match`: two players, many games, and what they show."""

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
    Seed,
    errors,
    facts,
    find_game,
    look_here,
    refuse_missing_folder,
    say,
    say_json,
    screen,
    table,
)
from treetop.errors import ConfigError

if TYPE_CHECKING:
    from treetop.arena.many import ManyResult
    from treetop.arena.match import MatchProgress
    from treetop.arena.result import MatchResult


class Told(Protocol):
    """What came of many games."""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""


R = TypeVar("R", bound=Told)

INTERRUPTED = 130
"""The exit code of what Ctrl-C ended: the shell's own."""

_LINES_EVERY = 10.0  # seconds between plain lines, where nobody watches
_FRAMES_EVERY = 0.1

_OPENINGS, _TEST = "Openings", "Sequential test"
_HELP_PLAYER = "A player: uct(simulations=1000), random, greedy, alphabeta(depth=4), ..., or a name from --players."
Specs = Annotated[
    list[str],
    typer.Argument(metavar="PLAYERS", help=f"Two, or as many as the game has. {_HELP_PLAYER}", show_default=False),
]
GameOption = Annotated[str, typer.Option("--game", metavar="GAME", help="What they play.", show_default=False)]
Games = Annotated[
    int | None,
    typer.Option(
        "--games",
        metavar="N",
        help="How many games at most, a multiple of the players; about 100 if not given.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", help="Processes; one a core if not given, 1 is this one.")
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE.jsonl", help="Keep the games; a match that is there goes on.")
]
PlayersFile = Annotated[
    Path | None, typer.Option("--players", metavar="FILE.toml", help="Players by name: \\[players.NAME] spec = ...")
]
TrustPlayers = Annotated[
    bool, typer.Option("--trust-players", help="Let the file of --players name modules and programs, which are run.")
]
MakePlayer = Annotated[
    str | None,
    typer.Option(
        "--make-player", metavar="MODULE:FUNCTION", help="Your own, under @treetop.player: (spec, game) -> Player."
    ),
]
Deadline = Annotated[
    float | None, typer.Option("--move-deadline", metavar="S", help="A move that takes longer loses the game.")
]
Plies = Annotated[
    int | None,
    typer.Option(
        "--opening-plies",
        metavar="K",
        help="Random moves at the start; by the game's length if not given.",
        rich_help_panel=_OPENINGS,
    ),
]
AnyOpening = Annotated[
    bool, typer.Option("--any-opening", help="Take lopsided openings too.", rich_help_panel=_OPENINGS)
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
SprtModel = Annotated[
    Model, typer.Option("--sprt-model", help="What E0 and E1 are measured in.", rich_help_panel=_TEST)
]
Alpha = Annotated[
    float, typer.Option("--alpha", metavar="X", help="How often E1 may be accepted wrongly.", rich_help_panel=_TEST)
]
Beta = Annotated[
    float, typer.Option("--beta", metavar="X", help="How often E0 may be accepted wrongly.", rich_help_panel=_TEST)
]


def match(
    specs: Specs,
    game: GameOption,
    games: Games = None,
    seed: Seed = 0,
    workers: Workers = None,
    out: Out = None,
    players: PlayersFile = None,
    trust_players: TrustPlayers = False,
    make_player: MakePlayer = None,
    move_deadline: Deadline = None,
    opening_plies: Plies = None,
    any_opening: AnyOpening = False,
    sprt: Bounds = None,
    sprt_model: SprtModel = Model.normalized,
    alpha: Alpha = 0.05,
    beta: Beta = 0.05,
    as_json: Json = False,
) -> None:
    """Let players play many games, and say which one is stronger, by how much, and how sure that is.

    Each opening and each deal is played twice, with colours swapped; by three players or more from every seat. With --out every finished game is kept, and the same command goes on after Ctrl-C or a
    crash as if nothing had happened.
    """
    from treetop.arena.match import match as play_two
    from treetop.arena.match import match_many, need_two
    from treetop.arena.playing import MAKE_PLAYER

    test = None if sprt is None else Sprt(*sprt, alpha=alpha, beta=beta, model=sprt_model)
    look_here(*specs, make_player)
    found = find_game(game)
    refuse_missing_folder(out)
    named = read_named(players, trusted=trust_players or make_player is not None)
    names, texts = zip(*(find_player(text, named) for text in specs), strict=True)
    check_workers(workers)
    many = found.facts.players
    if many < 3:
        need_two(found)
    if len(specs) != many:
        raise ConfigError(f"{found.name} is played by {many}: name {many} players, not {len(specs)}")
    if many > 2 and test is not None:
        raise ConfigError(f"--sprt is about two players, and {found.name} is played by {many}: leave it out")
    wanted = 100 - 100 % many if games is None else games
    common: dict[str, Any] = {
        "games": wanted,
        "seed": seed,
        "workers": workers,
        "out": out,
        "opening_plies": opening_plies,
        "balanced": not any_opening,
        "move_deadline": move_deadline,
        "make_player": make_player or MAKE_PLAYER,
        "names": names,
    }
    result: MatchResult | ManyResult
    with shown(f"{found.name}: {' - '.join(names)}", wanted) as show:
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
    tell_result(result, _draw, out, as_json=as_json)


def check_workers(workers: int | None) -> None:
    """Refuse a number of workers that makes no sense, before anything begins."""
    checks.whole("--workers", workers, 0, optional=True)


@contextmanager
def shown(
    what: str, total: int, unit: str = "games", first: str = "starting the players"
) -> Iterator[Callable[[int, Callable[[], str]], None]]:
    """A live line on a terminal, a plain line now and then elsewhere; both on stderr. Call what it gives with the units done and a text."""
    console = errors()
    if not console.is_terminal:
        yield _plain_lines(what, total, unit)
        return
    # Names are nobody's markup: `[x]` and `:b:` are shown as they are.
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
    """Read the file of --players, if there is one. What specs mean to a function of the user's own is for it to decide, so then it is trusted."""
    named = {} if players is None else read_players(players, trusted=trusted)
    look_here(*named.values())
    return named


def read_roster(texts: list[str], players: Path | None, *, trusted: bool) -> dict[str, str]:
    """The names of players, each another one, and what they stand for."""
    named = read_named(players, trusted=trusted)
    roster = dict(find_player(text, named) for text in texts)
    if len(roster) < len(texts):
        raise ConfigError("a player is named twice; names for equal ones come from --players")
    return roster


def tell_result(result: R, draw: Callable[[R], None], out: Path | None, *, as_json: bool) -> None:
    """Say what the games have shown, as JSON, drawn on a terminal, or as text; after Ctrl-C also how to go on."""
    if as_json:
        say_json(result.to_dict())
    elif screen().is_terminal:
        draw(result)
    else:
        say(str(result))
    if result.interrupted:
        tell_how_to_go_on(out)


def tell_how_to_go_on(out: Path | None, unit: str = "games") -> None:
    """After Ctrl-C: say how nothing is lost, and end with the shell's own code."""
    if out is None:
        errors().print(
            f"interrupted; the {unit} were not kept: name a place with --out to go on later",
            style=FAINT,
            soft_wrap=True,
        )
    else:
        errors().print(f"interrupted; go on with:  treetop {shlex.join(sys.argv[1:])}", style=FAINT, soft_wrap=True)
    raise typer.Exit(INTERRUPTED)


def pace(rate: float, left: int) -> str:
    """How fast it goes and when it will be done."""
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
