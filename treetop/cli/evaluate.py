"""`treetop evaluate`: measure the scores of players that play by themselves, in one-player games or in all seats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop.cli.common import (
    FAINT,
    GameName,
    Json,
    On,
    Seed,
    add_current_folder,
    errors,
    facts,
    find_game,
    refuse_missing_folder,
    screen,
    table,
)
from treetop.cli.match import (
    Deadline,
    MakePlayer,
    PlayersFile,
    TrustPlayers,
    Workers,
    check_workers,
    pace,
    print_result,
    progress_line,
    read_roster,
)

if TYPE_CHECKING:
    from treetop.arena.matches import MatchProgress
    from treetop.arena.scores import EvaluationResult

_HELP_PLAYER = (
    "A player: uct(simulations=1000), random, greedy, ..., or a name from --players. "
    "Several players are compared on the same random numbers. Default: the one recommended for the game."
)
Specs = Annotated[list[str] | None, typer.Option("--player", metavar="PLAYER", help=_HELP_PLAYER, show_default=False)]
Games = Annotated[int, typer.Option("--games", metavar="N", help="The games of each player.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE.jsonl", help="Save the games, one a line; an evaluation in the file is continued."
    ),
]
WinAbove = Annotated[float, typer.Option("--win-above", metavar="X", help="A score above this counts as a win.")]


def evaluate(
    game: GameName,
    player: Specs = None,
    games: Games = 100,
    seed: Seed = 0,
    workers: Workers = None,
    on: On = None,
    out: Out = None,
    win_above: WinAbove = 0.0,
    players: PlayersFile = None,
    trust_players: TrustPlayers = False,
    make_player: MakePlayer = None,
    move_deadline: Deadline = None,
    as_json: Json = False,
) -> None:
    """Play games with one player, and report its scores: mean, interval, median, best, wins.

    In a game for several, the player has all seats. Several players get the same random numbers and are compared by
    their differences. With --out the same command continues after Ctrl-C or a crash, with the same result.
    """
    from treetop.arena.evaluation import evaluate as play
    from treetop.arena.playing import MAKE_PLAYER
    from treetop.players.bundled import recommended

    add_current_folder(*(player or ()), make_player)
    found = find_game(game)
    refuse_missing_folder(out)
    if not player:
        player = [recommended(found)]
        errors().print(f"the player recommended for {found.name}: {player[0]}", style=FAINT, soft_wrap=True)
    roster = read_roster(player, players, trusted=trust_players or make_player is not None)
    check_workers(workers, on)
    with progress_line(f"{found.name}: {', '.join(roster)}", games * len(roster)) as show:
        result = play(
            found,
            tuple(roster.values()),
            games=games,
            seed=seed,
            workers=workers,
            on=on,
            out=out,
            win_above=win_above,
            move_deadline=move_deadline,
            make_player=make_player or MAKE_PLAYER,
            names=tuple(roster),
            progress=lambda now: show(now.finished, lambda: _standing(now)),
        )
    print_result(result, _draw, out, as_json=as_json)


def _standing(now: MatchProgress) -> str:
    from treetop.stats import format_number

    return f"mean {', '.join(format_number(score) for score in now.result)}  {pace(now.rate, now.asked - now.finished)}"


def _draw(result: EvaluationResult) -> None:
    console = screen()
    console.print(result.title(), soft_wrap=True)
    for head, rows in (result.rows(), *((head, rows) for _, head, rows in result.ends())):
        made = table(*head)
        for row in rows:
            made.add_row(*row)
        console.print()
        console.print(made)
    console.print()
    console.print(facts({**result.facts(), **({"games": os.fspath(result.out)} if result.out else {})}))
