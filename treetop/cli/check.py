"""`treetop check`: whether a game keeps its promises."""

from __future__ import annotations

from typing import Annotated

import typer

from treetop.cli.common import FAILURE, GameName, Json, Seed, complain, counting, find_game, say, say_json
from treetop.errors import ConformanceError

Games = Annotated[int, typer.Option("--games", metavar="N", help="How many random games to play.")]


def check(game: GameName, games: Games = 2000, seed: Seed = 0, as_json: Json = False) -> None:
    """Play random games, interpreted and compiled, and find broken rules.

    Ends with 1 and the shortest move list that shows the bug where a promise does not hold.
    """
    from treetop.game.check import check as run_check

    found = find_game(game)
    try:
        with counting(f"checking {found.name}", games) as count:
            report = run_check(found, games=games, seed=seed, progress=lambda done, _: count(done, "games"))
    except ConformanceError as error:
        complain(error)
        raise typer.Exit(FAILURE) from None
    if as_json:
        say_json(report.to_dict())
    else:
        say(str(report))
