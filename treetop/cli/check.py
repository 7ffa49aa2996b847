"""`treetop check`: check that a game meets the requirements of games."""

from __future__ import annotations

from typing import Annotated

import typer

from treetop.cli.common import FAILURE, GameName, Json, Seed, counting, find_game, print_error, say, say_json
from treetop.errors import ConformanceError

Games = Annotated[int, typer.Option("--games", metavar="N", help="The number of random games.")]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="S", help="Start no game after S seconds; inf: play all games.")
]


def check(game: GameName, games: Games = 2000, seconds: Seconds = 10.0, seed: Seed = 0, as_json: Json = False) -> None:
    """Play random games, interpreted and compiled, and find errors in the rules.

    The check ends after 2,000 games or 10 seconds by default; the report says how many games it played. If a
    requirement is violated, the exit code is 1 and a short list of moves that shows it is printed.
    """
    from treetop.game.check import check as run_check

    found = find_game(game)
    try:
        with counting(f"checking {found.name}", games) as count:
            note = f"games, at most {seconds:g} s"
            report = run_check(
                found, games=games, seed=seed, seconds=seconds, progress=lambda done, _: count(done, note)
            )
    except ConformanceError as error:
        print_error(error)
        raise typer.Exit(FAILURE) from None
    if as_json:
        say_json(report.to_dict())
    else:
        say(str(report))
