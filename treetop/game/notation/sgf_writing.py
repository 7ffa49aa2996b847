"""Write games in SGF, FF[4], in UTF-8."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from treetop.errors import ConfigError
from treetop.files import replacing
from treetop.game.notation.points import FAMILIES, point_of, size_of
from treetop.game.notation.recorded import RecordedGame, recorded
from treetop.game.notation.sgf import sgf_result
from treetop.game.notation.sgf_trees import escaped
from treetop.game.notation.tags import in_sgf
from treetop.game.position import Position

_WIDTH = 76
_OWN = {"FF", "GM", "CA", "AP", "SZ", "KM", "PB", "PW", "RE", "AB", "AW", "AE", "PL", "B", "W", "C", "ST"}


def write_sgf(path: str | Path, games: Iterable[RecordedGame | Position]) -> None:
    """Write games of Go, Othello, Gomoku or Hex to an SGF file. A crash leaves either the old file or the new one.

    A position stands for the game that led to it, between unnamed players. Variations are not written.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sgf(Path(folder) / "game.sgf", [tt.position("go", moves="E5 pass")])
    ...     print((Path(folder) / "game.sgf").read_text())
    (;FF[4]GM[1]CA[UTF-8]AP[Treetop]SZ[9]KM[7.5]
    ;B[ee];W[])
    <BLANKLINE>
    """
    with replacing(Path(path)) as file:
        for game in games:
            file.write(sgf_text(game).encode())


def sgf_text(game: RecordedGame | Position) -> str:
    """Return a game in SGF.

    >>> import treetop as tt
    >>> print(sgf_text(tt.position("gomoku", moves="h8 i9")))
    (;FF[4]GM[4]CA[UTF-8]AP[Treetop]SZ[15]
    ;B[hh];W[ig])
    <BLANKLINE>
    """
    played = recorded(game)
    if played.game.family not in FAMILIES or not played.game.is_bundled:
        raise ConfigError(f"SGF is written for {', '.join(FAMILIES)}, not for {played.game.name}: write PGN")
    root = "".join(f"{name}{''.join(f'[{escaped(value)}]' for value in values)}" for name, values in _root(played))
    lines, line = [f"(;{root}"], ""
    for node in _nodes(played):
        if line and len(line) + len(node) > _WIDTH:
            lines.append(line)
            line = ""
        line += node
    return "\n".join([*lines, *([line] if line else [])]) + ")\n"


def _root(game: RecordedGame) -> Iterator[tuple[str, list[str]]]:
    tags, played = in_sgf(game.tags), game.game
    yield from (("FF", ["4"]), ("GM", [str(FAMILIES[played.family])]), ("CA", ["UTF-8"]), ("AP", ["Treetop"]))
    yield "SZ", [str(size_of(played))]
    if played.family == "go":
        yield "KM", [f"{played.parameters['komi']:g}"]
    for name, player in zip(("PB", "PW"), game.players, strict=True):
        if player != "?":
            yield name, [player]
    for name in sorted(tags):
        if name not in _OWN:
            yield name, [tags[name]]
    if result := sgf_result(game, tags):
        yield "RE", [result]
    if game.end.was_set_up:
        yield from _setup(game.start)
    if game.comments.get(0):
        yield "C", [game.comments[0]]


def _setup(start: Position) -> Iterator[tuple[str, list[str]]]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    rows = start.board() or []
    for name, stone in (("AB", "X"), ("AW", "O")):
        points = [
            letters[column] + letters[row]
            for row, cells in enumerate(rows)
            for column, cell in enumerate(cells)
            if cell == stone
        ]
        if points:
            yield name, points
    if not start.is_terminal:
        yield "PL", ["BW"[start.player]]


def _nodes(game: RecordedGame) -> Iterator[str]:
    for ply, (position, action) in enumerate(zip(game.positions(), game.actions, strict=False), start=1):
        comment = game.comments.get(ply)
        point = point_of(game.game, position.move_text(action))
        yield f";{'BW'[position.player]}[{point}]" + (f"C[{escaped(comment)}]" if comment else "")
