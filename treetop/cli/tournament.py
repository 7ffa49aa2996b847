"""`treetop tournament`: play every pair of players, and rate all players on one scale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop.cli.common import Json, On, Seed, add_current_folder, facts, find_game, screen, table
from treetop.cli.match import (
    AnyOpening,
    Clock,
    Deadline,
    GameOption,
    MakePlayer,
    OpeningOrder,
    OpeningsFile,
    PlayersFile,
    Plies,
    TrustPlayers,
    Workers,
    check_workers,
    pace,
    print_result,
    progress_line,
    read_roster,
)

if TYPE_CHECKING:
    from treetop.arena.tournaments import TournamentProgress, TournamentResult

Specs = Annotated[
    list[str], typer.Argument(metavar="PLAYERS", help="Two or more, as in `treetop match`.", show_default=False)
]
Games = Annotated[int, typer.Option("--games", metavar="N", help="The games of each pairing, an even number.")]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FOLDER", help="Save the games, one file a pairing; a tournament there is continued."
    ),
]
Anchor = Annotated[
    str | None, typer.Option("--anchor", metavar="PLAYER", help="The player with a fixed rating. Default: the first.")
]
AnchorElo = Annotated[float, typer.Option("--anchor-elo", metavar="X", help="The anchor's rating.")]


def tournament(
    specs: Specs,
    game: GameOption,
    games: Games = 100,
    seed: Seed = 0,
    workers: Workers = None,
    on: On = None,
    out: Folder = None,
    players: PlayersFile = None,
    trust_players: TrustPlayers = False,
    make_player: MakePlayer = None,
    move_deadline: Deadline = None,
    clock: Clock = None,
    openings: OpeningsFile = None,
    opening_order: OpeningOrder = "file",
    opening_plies: Plies = None,
    any_opening: AnyOpening = False,
    anchor: Anchor = None,
    anchor_elo: AnchorElo = 0.0,
    as_json: Json = False,
) -> None:
    """Play every pair of players, and rate all players on one scale.

    The ratings are Bradley-Terry ratings with 95% intervals. With --out the same command continues after Ctrl-C or a
    crash.
    """
    from treetop.arena.playing import MAKE_PLAYER
    from treetop.arena.tournaments import tournament as play

    add_current_folder(*specs, make_player)
    found = find_game(game)
    roster = read_roster(specs, players, trusted=trust_players or make_player is not None)
    check_workers(workers, on)
    pairings = len(roster) * (len(roster) - 1) // 2
    with progress_line(f"{found.name}: {len(roster)} players", games * pairings) as show:
        result = play(
            roster,
            found,
            games=games,
            seed=seed,
            workers=workers,
            on=on,
            out=out,
            openings=openings,
            opening_order=opening_order,
            opening_plies=opening_plies,
            balanced=not any_opening,
            move_deadline=move_deadline,
            clock=clock,
            make_player=make_player or MAKE_PLAYER,
            anchor=anchor,
            anchor_elo=anchor_elo,
            progress=lambda now: show(now.finished, lambda: _standing(now)),
        )
    print_result(result, _draw, out, as_json=as_json)


def _standing(now: TournamentProgress) -> str:
    first = max(now.points, key=lambda name: now.points[name])
    return f"{first} leads with {now.points[first]:g} points  {pace(now.rate, now.asked - now.finished)}"


def _draw(result: TournamentResult) -> None:
    console = screen()
    head, rows = result.table()
    made = table(*head)
    for row in rows:
        made.add_row(*row)
    console.print(result.title(), soft_wrap=True)
    console.print()
    console.print(made)
    if notes := result.facts():
        console.print()
        console.print(facts({**notes}))
