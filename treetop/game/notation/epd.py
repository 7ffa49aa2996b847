"""Read and write positions of chess in EPD: the first four fields of a FEN, and operations such as `bm Nf3;`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from treetop.checks import shorten
from treetop.errors import ConfigError, SaveError, TreetopError
from treetop.files import replacing
from treetop.game.definition import Game
from treetop.game.notation.pgn_writing import notation_of
from treetop.game.notation.recorded import setup_text
from treetop.game.notation.texts import read_text
from treetop.game.position import Position
from treetop.game.registry import load_game

_LONGEST = 10_000  # characters of a line
_OPERATION = re.compile(r'\s*(?P<name>[A-Za-z]\w{0,30})(?P<rest>(?:[^";]|"[^"]*")*+)(?:;|$)')
_OPERAND = re.compile(r'"([^"]*)"|(\S+)')


@dataclass(frozen=True)
class EpdPosition:
    """A position with its operations: the best moves, moves to avoid, its name and so on.

    >>> import treetop as tt
    >>> start = tt.position("chess", setup="6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1")
    >>> position = EpdPosition(start, best=(start.parse_move("Ra8"),), operations={"id": ("mate",)})
    >>> tt.records.epd_text(position)
    '6k1/5ppp/8/8/8/8/8/R3K3 w Q - bm Ra8#; id "mate";'
    """

    position: Position
    best: tuple[int, ...] = ()
    """The actions of `bm`: the best moves."""
    avoid: tuple[int, ...] = ()
    """The actions of `am`: moves to avoid."""
    operations: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """The other operations and their operands."""
    source: str = ""
    """Where it was read: the file and the line."""

    @property
    def name(self) -> str:
        """Its `id`; without one, the line."""
        return " ".join(self.operations.get("id", ())) or self.source.rpartition(", ")[2] or "?"

    def solves(self, action: int) -> bool:
        """Return whether a move is one of the best, if there are some, and none to avoid."""
        return (not self.best or action in self.best) and action not in self.avoid


def read_epd(
    path: str | Path, *, game: str | Game = "chess", skipped: list[SaveError] | None = None
) -> Iterator[EpdPosition]:
    """Yield the positions of an EPD file, one a line; empty lines and those that begin with # are left out.

    A wrong line raises a `SaveError` with its number; with a list `skipped`, the error is appended to it and the next
    line is read.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "suite.epd"
    ...     _ = file.write_text('6k1/5ppp/8/8/8/8/8/R3K3 w Q - bm Ra8#; id "mate";')
    ...     [position] = tt.records.read_epd(file)
    >>> position.name, position.solves(position.position.parse_move("a1a8"))
    ('mate', True)
    """
    path = Path(path)
    return _positions(read_text(path), str(path), load_game(game), skipped)


def parse_epd(
    text: str, *, game: str | Game = "chess", skipped: list[SaveError] | None = None, source: str = "the text"
) -> Iterator[EpdPosition]:
    """Yield the positions of a text in EPD, as `read_epd` does. `source` names the text in errors.

    >>> [position] = parse_epd("8/8/8/8/8/4k3/8/4K2R w K - am Rh8; ce 30;")
    >>> position.operations
    {'ce': ('30',)}
    """
    return _positions(text, source, load_game(game), skipped)


def write_epd(path: str | Path, positions: Iterable[EpdPosition | Position]) -> None:
    """Write positions to an EPD file, one a line. A crash leaves either the old file or the new one.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_epd(Path(folder) / "a.epd", [tt.position("chess")])
    ...     print((Path(folder) / "a.epd").read_text())
    rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -
    <BLANKLINE>
    """
    with replacing(Path(path)) as file:
        for position in positions:
            file.write((epd_text(position) + "\n").encode())


def epd_text(position: EpdPosition | Position) -> str:
    """Return a position in EPD, in one line. Positions after the first move have their counters as `hmvc` and `fmvn`.

    >>> import treetop as tt
    >>> epd_text(tt.position("chess", moves="Nf3"))
    'rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - hmvc 1; fmvn 1;'
    """
    given = EpdPosition(position) if isinstance(position, Position) else position
    here = given.position
    if here.game.family != "chess":
        raise ConfigError(f"EPD holds positions of chess, not of {here.game.name}")
    *fields, clock, turn = setup_text(here).split()
    operations = dict(given.operations)
    for name, actions in (("bm", given.best), ("am", given.avoid)):
        if actions:
            operations[name] = tuple(sorted(notation_of(here, action) for action in actions))
    if (clock, turn) != ("0", "1"):
        operations |= {"hmvc": (clock,), "fmvn": (turn,)}
    written = (
        f" {name}{''.join(f' {_operand(name, one)}' for one in operations[name])};" for name in _order(operations)
    )
    return " ".join(fields) + "".join(written)


def _order(operations: Mapping[str, object]) -> list[str]:
    """Return the names of operations: the moves first, others as they were given."""
    return sorted(operations, key=lambda name: name not in ("bm", "am"))


def _operand(name: str, text: str) -> str:
    if re.fullmatch(r'[^\s";]+', text) and not re.fullmatch(r"id|c\d", name):
        return text
    return '"' + " ".join(text.split()).replace('"', "'") + '"'


def _positions(text: str, source: str, game: Game, skipped: list[SaveError] | None) -> Iterator[EpdPosition]:
    if game.family != "chess":
        raise ConfigError(f"EPD holds positions of chess, not of {game.name}")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            yield _position(line, f"{source}, line {number}", game)
        except SaveError as error:
            if skipped is None:
                raise
            skipped.append(error)


def _position(line: str, where: str, game: Game) -> EpdPosition:
    if len(line) > _LONGEST:
        raise SaveError(f"{where}: it has {len(line):,} characters, and at most {_LONGEST:,} are read")
    fields = line.split(None, 4)
    if len(fields) < 4:
        raise SaveError(
            f"{where}: a position has four fields, as in '4k3/8/8/8/8/8/8/4K2R w K - bm O-O;'; {shorten(line)} has "
            f"{len(fields)}"
        )
    operations = _operations(fields[4] if len(fields) > 4 else "", where)
    clock, turn = (operations.pop(name, (usual,)) for name, usual in (("hmvc", "0"), ("fmvn", "1")))
    try:
        position = Position.parse(game, " ".join([*fields[:4], *clock[:1], *turn[:1]]))
    except TreetopError as error:
        raise SaveError(f"{where}: {error}") from None
    best, avoid = (_moves(position, operations.pop(name, ()), f"{where}: {name}") for name in ("bm", "am"))
    return EpdPosition(position, best, avoid, operations, where)


def _operations(text: str, where: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    counters = re.match(r"\s*(\d{1,4})\s+(\d{1,4})(?=\s|$)\s*;?", text)  # of a FEN, which many files have
    if counters:
        found |= {"hmvc": (counters[1],), "fmvn": (counters[2],)}
        text = text[counters.end() :]
    place = 0
    while text[place:].strip():
        operation = _OPERATION.match(text, place)
        if operation is None:
            raise SaveError(
                f"{where}: {shorten(text[place:].strip()[:40])} is no operation, which has a name, operands and a "
                'semicolon, as in bm Nf3; id "A 1";'
            )
        found[operation["name"]] = tuple(one[1] or one[2] or "" for one in _OPERAND.finditer(operation["rest"]))
        place = operation.end()
    return found


def _moves(position: Position, texts: tuple[str, ...], where: str) -> tuple[int, ...]:
    try:
        return tuple(position.parse_move(text) for text in texts)
    except TreetopError as error:
        raise SaveError(f"{where}: {str(error).partition('; the legal')[0].splitlines()[0]}") from None
