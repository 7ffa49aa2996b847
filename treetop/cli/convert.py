"""`treetop convert`: write the games of one file to another, in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treetop.cli.common import errors, find_game, refuse_missing_folder, say
from treetop.errors import SaveError
from treetop.text import counted

Source = Annotated[
    Path,
    typer.Argument(
        metavar="SOURCE", help="match.jsonl, a saved game.json, games.pgn or games.sgf.", show_default=False
    ),
]
Target = Annotated[
    Path, typer.Argument(metavar="TARGET", help="games.pgn, games.sgf or game.json.", show_default=False)
]
GameOption = Annotated[
    str | None, typer.Option("--game", metavar="GAME", help="The game, if the file does not name it.")
]
Number = Annotated[int | None, typer.Option("--number", metavar="N", help="Only game N, counted from 1.")]
Skip = Annotated[bool, typer.Option("--skip", help="Report bad games, and write the others.")]


def convert(source: Source, target: Target, game: GameOption = None, number: Number = None, skip: Skip = False) -> None:
    """Convert games: those of a match, or a saved one, to PGN or SGF, and one game of these to a saved game.

    The endings of the names are the formats. `treetop play --resume game.json` goes on with a saved game.
    """
    from treetop.arena.converting import convert as write

    refuse_missing_folder(target)
    skipped: list[SaveError] | None = [] if skip else None
    count = write(source, target, game=None if game is None else find_game(game), number=number, skipped=skipped)
    for error in skipped or ():
        errors().print(f"skipped: {error}", soft_wrap=True)
    say(f"{target}: {counted(count, 'game')}")
