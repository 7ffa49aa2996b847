"""`treetop evaluate`: how well players do by themselves, in games for one or in every seat of others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop.cli.common import GameName, Json, Seed, facts, find_game, look_here, refuse_missing_folder, screen, table
from treetop.cli.match import (
    Deadline,
    MakePlayer,
    PlayersFile,
    TrustPlayers,
    Workers,
    check_workers,
    pace,
    read_roster,
    shown,
    tell_result,
)

if TYPE_CHECKING:
    from treetop.arena.match import MatchProgress
    from treetop.arena.scores import EvaluationResult

_HELP_PLAYER = "A player: uct(simulations=1000), random, greedy, ..., or a name from --players. Several are compared on the same deals."
Specs = Annotated[list[str], typer.Option("--player", metavar="PLAYER", help=_HELP_PLAYER, show_default=False)]
Games = Annotated[int, typer.Option("--games", metavar="N", help="Games of each player.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE.jsonl", help="Keep the games, one a line; an evaluation that is there goes on."
    ),
]
WinAbove = Annotated[float, typer.Option("--win-above", metavar="X", help="A score above this counts as a win.")]


def evaluate(
    game: GameName,
    player: Specs,
    games: Games = 100,
    seed: Seed = 0,
    workers: Workers = None,
    out: Out = None,
    win_above: WinAbove = 0.0,
    players: PlayersFile = None,
    trust_players: TrustPlayers = False,
    make_player: MakePlayer = None,
    move_deadline: Deadline = None,
    as_json: Json = False,
) -> None:
    """Let players play by themselves, and say what they score: mean, interval, median, best, wins.

    A game for one is played by one player; of any other each player has all seats. Several players get the same deals and dice and are compared by
    their differences. With --out the same command goes on after Ctrl-C or a crash as if nothing had happened.
    """
    from treetop.arena.evaluation import evaluate as play
    from treetop.arena.playing import MAKE_PLAYER

    look_here(*player, make_player)
    found = find_game(game)
    refuse_missing_folder(out)
    roster = read_roster(player, players, trusted=trust_players or make_player is not None)
    check_workers(workers)
    with shown(f"{found.name}: {', '.join(roster)}", games * len(roster)) as show:
        result = play(
            found,
            tuple(roster.values()),
            games=games,
            seed=seed,
            workers=workers,
            out=out,
            win_above=win_above,
            move_deadline=move_deadline,
            make_player=make_player or MAKE_PLAYER,
            names=tuple(roster),
            progress=lambda now: show(now.finished, lambda: _standing(now)),
        )
    tell_result(result, _draw, out, as_json=as_json)


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
