"""Write games in PGN: the seven tags first, algebraic notation for chess, lines of less than 80 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from treetop.errors import ConfigError
from treetop.files import replacing
from treetop.game.contract import call
from treetop.game.definition import Game
from treetop.game.notation.recorded import RecordedGame, recorded, require_recordable, setup_text
from treetop.game.notation.tags import in_pgn
from treetop.game.position import Position
from treetop.game.registry import load_bundled

_WIDTH = 79
_ROSTER = ("Event", "Site", "Date", "Round")
_WRITTEN = ("White", "Black", "Result", "Variant", "SetUp", "FEN")


def write_pgn(path: str | Path, games: Iterable[RecordedGame | Position]) -> None:
    """Write games to a PGN file. A crash leaves either the old file or the new one. Variations are not written.

    A position stands for the game that led to it, between unnamed players. White is the player who moves first, unless
    the game was set up. Games other than chess have the tag `Variant`, and moves as Treetop names them.

    >>> import tempfile, treetop as tt
    >>> game = tt.records.RecordedGame(tt.position("chess", moves="e4 e5"), players=("Ada", "Charles"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pgn(Path(folder) / "games.pgn", [game])
    ...     print((Path(folder) / "games.pgn").read_text().splitlines()[4])
    [White "Ada"]
    """
    with replacing(Path(path)) as file:
        for number, game in enumerate(games):
            file.write(("\n" * (number > 0) + pgn_text(game)).encode())


def pgn_text(game: RecordedGame | Position) -> str:
    """Return a game in PGN.

    >>> import treetop as tt
    >>> print(pgn_text(tt.position("connect_four", moves="4 4 5")))
    [Event "?"]
    [Site "?"]
    [Date "????.??.??"]
    [Round "?"]
    [White "?"]
    [Black "?"]
    [Result "*"]
    [Variant "connect_four"]
    <BLANKLINE>
    1. 4 4 2. 5 *
    <BLANKLINE>
    """
    played = recorded(game)
    require_recordable(played.game)
    tags = "".join(f'[{name} "{_escaped(value)}"]\n' for name, value in _tags(played))
    moves = textwrap.wrap(" ".join(_words(played)), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{tags}\n" + "\n".join(moves) + "\n"


def variant_of(game: Game) -> str:
    """Return the value of the tag `Variant`: the name by which the game is found again; empty for chess.

    >>> import treetop as tt
    >>> variant_of(tt.load_game("chess(variant='960')")), variant_of(tt.load_game("hex(size=7)"))
    ('Chess960', 'hex(size=7)')
    """
    if game.family == "chess" and game.is_bundled:
        return "Chess960" if game.parameters.get("variant") == "960" else ""
    return game.family if game.is_bundled and load_bundled(game.family) is game else game.name


def _tags(game: RecordedGame) -> Iterator[tuple[str, str]]:
    given = in_pgn(game.tags)
    for name in _ROSTER:
        yield name, given.get(name) or ("????.??.??" if name == "Date" else "?")
    yield from zip(("White", "Black"), game.players, strict=True)
    yield "Result", game.result
    if variant := variant_of(game.game):
        yield "Variant", variant
    if game.end.was_set_up or game.game.has("deal"):
        yield from (("SetUp", "1"), ("FEN", setup_text(game.start)))
    for name in sorted(given):
        if name not in (*_ROSTER, *_WRITTEN):
            yield name, given[name]


def _escaped(value: str) -> str:
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def _words(game: RecordedGame) -> Iterator[str]:
    """Yield the moves with their numbers, the glyphs and the comments behind them, and the result."""
    number, is_second = _first_turn(game.start)
    yield from _comment(game, 0)
    fresh = True
    for ply, (position, action) in enumerate(zip(game.positions(), game.actions, strict=False), start=1):
        turn, second = divmod(ply - 1 + is_second, 2)
        if fresh or not second:
            yield f"{number + turn}{'...' if second else '.'}"
        name = notation_of(position, action)
        if re.search(r"[\s{}()\[\];$%]", name):
            raise ConfigError(f"the move {name!r} of {game.game.name} cannot be written in PGN")
        yield name
        yield from (f"${glyph}" for glyph in game.nags.get(ply, ()))
        fresh = bool(game.comments.get(ply))
        yield from _comment(game, ply)
    yield game.result


def notation_of(position: Position, action: int) -> str:
    """Return a move as records write it: the game's own notation, such as the algebraic one of chess, or its name.

    >>> import treetop as tt
    >>> start = tt.position("chess")
    >>> notation_of(start, start.parse_move("g1f3"))
    'Nf3'
    """
    if position.game.has("notation"):
        return str(call(position.game, position.state, "notation", action))
    return position.move_text(action)


def _comment(game: RecordedGame, ply: int) -> Iterator[str]:
    text = game.comments.get(ply, "").translate({ord("{"): "(", ord("}"): ")"})
    if text:
        yield from f"{{{' '.join(text.split())}}}".split()


def _first_turn(start: Position) -> tuple[int, int]:
    """Return the number of the first move, and 1 if the second player makes it."""
    second = int(not start.is_terminal and start.player == 1)
    if start.was_set_up and start.game.family == "chess":
        return int(setup_text(start).split()[-1]), second
    return 1, second
