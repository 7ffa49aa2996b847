"""`treetop tournament`: every player against every other one, and ratings of all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop.cli.common import Json, Seed, facts, find_game, look_here, screen, table
from treetop.cli.match import (
    AnyOpening,
    Deadline,
    GameOption,
    MakePlayer,
    PlayersFile,
    Plies,
    TrustPlayers,
    Workers,
    check_workers,
    pace,
    read_roster,
    shown,
    tell_result,
)

if TYPE_CHECKING:
    from treetop.arena.tournament import TournamentProgress, TournamentResult

Specs = Annotated[
    list[str], typer.Argument(metavar="PLAYERS", help="Two or more, as in `treetop match`.", show_default=False)
]
Games = Annotated[int, typer.Option("--games", metavar="N", help="Games of each pairing; an even number.")]
Folder = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="Keep the games, a file a pairing; what is there goes on."),
]
Anchor = Annotated[
    str | None, typer.Option("--anchor", metavar="PLAYER", help="Whose rating is fixed; the first one's if not given.")
]
AnchorElo = Annotated[float, typer.Option("--anchor-elo", metavar="X", help="The anchor's rating.")]


def tournament(
    specs: Specs,
    game: GameOption,
    games: Games = 100,
    seed: Seed = 0,
    workers: Workers = None,
    out: Folder = None,
    players: PlayersFile = None,
    trust_players: TrustPlayers = False,
    make_player: MakePlayer = None,
    move_deadline: Deadline = None,
    opening_plies: Plies = None,
    any_opening: AnyOpening = False,
    anchor: Anchor = None,
    anchor_elo: AnchorElo = 0.0,
    as_json: Json = False,
) -> None:
    """Let every player meet every other one, and rate them all on one scale.

    The ratings are Bradley-Terry's, with 95% intervals. With --out the same command goes on after Ctrl-C or a crash.
    """
    from treetop.arena.playing import MAKE_PLAYER
    from treetop.arena.tournament import tournament as play

    look_here(*specs, make_player)
    found = find_game(game)
    roster = read_roster(specs, players, trusted=trust_players or make_player is not None)
    check_workers(workers)
    pairings = len(roster) * (len(roster) - 1) // 2
    with shown(f"{found.name}: {len(roster)} players", games * pairings) as show:
        result = play(
            roster,
            found,
            games=games,
            seed=seed,
            workers=workers,
            out=out,
            opening_plies=opening_plies,
            balanced=not any_opening,
            move_deadline=move_deadline,
            make_player=make_player or MAKE_PLAYER,
            anchor=anchor,
            anchor_elo=anchor_elo,
            progress=lambda now: show(now.finished, lambda: _standing(now)),
        )
    tell_result(result, _draw, out, as_json=as_json)


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
    if said := result.facts():
        console.print()
        console.print(facts({**said}))
