"""`treetop suite`: how many positions of an EPD file a player solves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treetop.cli.common import CHOSEN, Json, Seed, add_current_folder, errors, facts, say, say_json, screen, table
from treetop.cli.match import PlayersFile, TrustPlayers, progress_line, read_roster
from treetop.errors import ConfigError, SaveError

File = Annotated[Path, typer.Argument(metavar="FILE.epd", help="Positions with bm or am.", show_default=False)]
Spec = Annotated[str, typer.Option("--player", metavar="PLAYER", help="uct(seconds=1), ..., or a name from --players.")]
Skip = Annotated[bool, typer.Option("--skip", help="Report bad lines, and go on.")]


def suite(
    file: File,
    player: Spec,
    seed: Seed = 0,
    skip: Skip = False,
    players: PlayersFile = None,
    trust_players: TrustPlayers = False,
    as_json: Json = False,
) -> None:
    """Count the positions of a test suite that a player solves: by a best move (bm), or by none to avoid (am)."""
    from treetop.arena.positions import solve_suite
    from treetop.game.notation.epd import read_epd

    add_current_folder(player)
    [(name, spec)] = read_roster([player], players, trusted=trust_players).items()
    skipped: list[SaveError] | None = [] if skip else None
    positions = list(read_epd(file, skipped=skipped))
    for error in skipped or ():
        errors().print(f"skipped: {error}", soft_wrap=True)
    if not positions:
        raise ConfigError(f"{file}: there is no position in the suite")
    with progress_line(f"{file.name}: {name}", len(positions), "positions", "starting the player") as show:
        result = solve_suite(
            positions, spec, seed=seed, progress=lambda done, solved: show(done, lambda: f"{solved:,} solved")
        )
    if as_json:
        say_json(result.to_dict())
    elif screen().is_terminal:
        head, rows = result.table()
        made = table(*head, left=("wanted", "move"))
        for row, cells in zip(result.rows, rows, strict=True):
            made.add_row(*cells, style=CHOSEN if row.solved else None)
        screen().print(made)
        screen().print()
        screen().print(facts({**result.facts()}))
    else:
        say(str(result))
