"""`treetop ladder`: rate a player beside known ones and external engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop.cli.common import (
    CHOSEN,
    GameName,
    Json,
    On,
    Seed,
    add_current_folder,
    errors,
    facts,
    find_game,
    screen,
    table,
)
from treetop.cli.match import Deadline, Workers, check_workers, pace, print_result, progress_line

if TYPE_CHECKING:
    from treetop.arena.ladders import LadderResult
    from treetop.arena.tournaments import TournamentProgress

PlayerOption = Annotated[
    str | None,
    typer.Option("--player", metavar="SPEC", help="The player to be rated. Default: the recommended one of the game."),
]
Games = Annotated[int, typer.Option("--games", metavar="N", help="The games of each pairing, an even number.")]
Folder = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="Save the games, one file a pairing; a ladder there is continued."),
]


def ladder(
    game: GameName,
    player: PlayerOption = None,
    games: Games = 20,
    seed: Seed = 0,
    workers: Workers = None,
    on: On = None,
    out: Folder = None,
    move_deadline: Deadline = None,
    as_json: Json = False,
) -> None:
    """Rate a player on the ladder of a game: known players from random play to external engines.

    The player plays every rung, and neighbouring rungs play each other. Engines that are not installed are left out.
    With --out the same command continues after Ctrl-C or a crash.
    """
    from treetop.arena.anchors import rungs_of, split_rungs
    from treetop.arena.ladders import ladder as play
    from treetop.arena.ladders import pairs_of
    from treetop.players.bundled import recommended

    add_current_folder(player)
    found = find_game(game)
    check_workers(workers, on)
    rated = recommended(found) if player is None else player
    rungs, left_out = split_rungs(found, rungs_of(found))
    for rung, reason in left_out.items():
        errors().print(f"left out: {rung}: {reason}", soft_wrap=True)
    pairings = pairs_of(len(rungs), rungs.index(rated) if rated in rungs else len(rungs))
    with progress_line(f"{found.name}: {rated}", games * len(pairings)) as show:
        result = play(
            found,
            rated,
            games=games,
            seed=seed,
            workers=workers,
            on=on,
            out=out,
            move_deadline=move_deadline,
            progress=lambda now: show(now.finished, lambda: _standing(now, rated)),
        )
    print_result(result, _draw, out, as_json=as_json)


def _standing(now: TournamentProgress, rated: str) -> str:
    return f"the player has {now.points[rated]:g} points  {pace(now.rate, now.asked - now.finished)}"


def _draw(result: LadderResult) -> None:
    console = screen()
    head, rows = result.table()
    made = table(*head)
    for row in rows:
        made.add_row(*row, style=CHOSEN if row[0].startswith("*") else None)
    console.print(result.title(), soft_wrap=True)
    console.print()
    console.print(made)
    if notes := result.facts():
        console.print()
        console.print(facts({**notes}))
