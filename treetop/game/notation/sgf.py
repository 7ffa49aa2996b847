"""Read games in SGF (smart game format): Go, and Othello, Gomoku and Hex, whose moves are points of a grid too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from treetop.checks import shorten
from treetop.errors import SaveError, TreetopError
from treetop.game.definition import Game
from treetop.game.notation.points import BLACK, FAMILIES, PASSES, move_at, size_of
from treetop.game.notation.recorded import (
    DRAW,
    LOSS,
    UNKNOWN,
    WIN,
    RecordedGame,
    Replay,
    Variation,
    collected,
)
from treetop.game.notation.sgf_trees import Node, Tree, plain, trees_of
from treetop.game.notation.texts import read_text
from treetop.game.position import Position
from treetop.game.registry import load_bundled, load_game

_CHARSET = re.compile(rb"\bCA\s*\[([^\]]{1,40})\]")
_USUAL_SIZES = {"go": 19, "othello": 8, "gomoku": 15, "hex": 11}
_SETUP = ("AB", "AW", "AE")
_NOT_TAGS = {*_SETUP, "PL", "B", "W", "C", "FF", "GM", "CA", "AP", "SZ", "KM", "ST", "PB", "PW"}
_MOST_VARIATIONS = 20_000


def read_sgf(
    path: str | Path,
    *,
    game: str | Game | None = None,
    variations: bool = False,
    skipped: list[SaveError] | None = None,
) -> Iterator[RecordedGame]:
    """Yield the games of an SGF file, one after the other: their main lines.

    The game, its size and its komi are those of the file; `game` replaces them. A wrong game raises a `SaveError` with
    its number and its line; with a list `skipped`, the error is appended to it and the next game is read. `variations`
    reads the lines beside the main one too.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "game.sgf"
    ...     _ = file.write_text("(;FF[4]GM[1]SZ[9]KM[7];B[ee];W[cc];B[])")
    ...     [game] = tt.records.read_sgf(file)
    >>> game.game.name, game.end.moves()
    ('go(size=9, komi=7.0)', ['E5', 'C7', 'pass'])
    """
    path = Path(path)
    return _games(read_text(path, charset=_CHARSET), str(path), game, variations, skipped)


def parse_sgf(
    text: str,
    *,
    game: str | Game | None = None,
    variations: bool = False,
    skipped: list[SaveError] | None = None,
    source: str = "the text",
) -> Iterator[RecordedGame]:
    """Yield the games of a text in SGF, as `read_sgf` does. `source` names the text in errors.

    >>> [game] = parse_sgf("(;SZ[9];B[ee](;W[cc];B[gg])(;W[gc]))", variations=True)
    >>> game.end.moves(), [variation.moves for variation in game.variations]
    (['E5', 'C7', 'G3'], [['G7']])
    """
    return _games(text, source, game, variations, skipped)


def _games(
    text: str, source: str, game: str | Game | None, variations: bool, skipped: list[SaveError] | None
) -> Iterator[RecordedGame]:
    given = None if game is None else load_game(game)

    def read() -> Iterator[RecordedGame | SaveError]:
        found = False
        for tree in trees_of(text):
            found = True
            try:
                yield _Reading(tree, source, given, variations).game()
            except SaveError as error:
                yield error
        if not found and text.strip():
            yield SaveError(f"{source}: there is no game in it: one in SGF begins with (;")

    return collected(read(), skipped)


class _Reading:
    """Reads one game."""

    def __init__(self, tree: Tree, source: str, given: Game | None, variations: bool) -> None:
        self._nodes, self._wants_variations = tree.nodes, variations
        self._where = f"{source}: game {tree.number}"
        self._line = tree.line
        if tree.wrong:
            raise SaveError(f"{self._where}, {tree.wrong}")
        if not tree.nodes:
            raise SaveError(f"{self._where}, line {tree.line}: it has no node")
        self._game = given or self._named_game()
        if self._game.family not in FAMILIES:
            raise SaveError(f"{self._where}: SGF is read for {', '.join(FAMILIES)}, not for {self._game.name}")
        self._size = size_of(self._game)
        self._notes: list[str] = []

    def game(self) -> RecordedGame:
        """Return the game; raise SaveError if it is wrong."""
        path = self._main_line()
        replay = Replay(self._start(path), self._where)
        comments: dict[int, str] = {}
        positions = self._follow(replay, path, comments)
        tags = {
            name: " ".join(plain(values[0]).split()) if name != "GC" else plain(values[0])
            for name, values in self._nodes[0].properties.items()
            if name not in _NOT_TAGS
        }
        result = _result(tags.get("RE", ""))
        variations = tuple(self._variations(path, positions)) if self._wants_variations else ()
        names = (self._nodes[0].text("PB"), self._nodes[0].text("PW"))
        return RecordedGame(
            replay.position,
            (names[0] or "?", names[1] or "?"),
            result,
            tags,
            comments,
            variations=variations,
            notes=(*replay.notes(result), *self._notes),
            source=f"{self._where}, line {self._line}",
        )

    # The game and its start.

    def _wrong(self, node: Node, text: str) -> SaveError:
        return SaveError(f"{self._where}, line {node.line}: {text}")

    def _named_game(self) -> Game:
        root = self._nodes[0]
        kinds = {str(number): family for family, number in FAMILIES.items()}
        kind = (root.text("GM") or "1").strip()
        if kind not in kinds:
            known = ", ".join(f"{number} ({family})" for number, family in kinds.items())
            raise self._wrong(root, f"GM[{shorten(kind)[1:-1]}] is another game; GM can be {known}")
        family = kinds[kind]
        given = (root.text("SZ") or str(_USUAL_SIZES[family])).strip()
        found = re.fullmatch(r"(\d{1,3})(?::(\d{1,3}))?", given)
        if found is None or (found[2] and found[2] != found[1]):
            raise self._wrong(root, f"the board must be square, with a size as in SZ[19]; not {shorten(given)}")
        name = f"{family}(size={int(found[1])})"
        if family == "go":
            name = f"go(size={int(found[1])}, komi={self._komi()})"
        try:
            return load_bundled(name)
        except TreetopError as error:
            raise self._wrong(root, str(error)) from None

    def _komi(self) -> float:
        root = self._nodes[0]
        given = (root.text("KM") or "0").strip().replace(",", ".")
        if not re.fullmatch(r"[+-]?\d{0,4}(\.\d{0,9})?", given) or not re.search(r"\d", given):
            raise self._wrong(root, f"the komi must be a number, as in KM[7.5]; not {shorten(given)}")
        return float(given)

    def _main_line(self) -> list[int]:
        """Return the numbers of the nodes of the main line: the first child of each."""
        path = [0]
        while self._nodes[path[-1]].children:
            path.append(self._nodes[path[-1]].children[0])
        return path

    def _start(self, path: list[int]) -> Position:
        """Return the position before the first move: that of the stones of the first nodes."""
        stones: dict[tuple[int, int], str] = {}
        side, has_setup = "", False
        for node in (self._nodes[number] for number in path):
            has_setup |= self._add_stones(node, stones)
            moved = next((colour for colour in "BW" if colour in node.properties), "")
            if moved:
                side = moved
                break
            side = {"B": "B", "W": "W", "BLACK": "B", "WHITE": "W"}.get((node.text("PL") or "").strip().upper(), side)
        else:
            side = side or ("W" if stones and set(stones.values()) == {"X"} else "B")
        side = side or "B"
        if not has_setup and side == "B":
            return Position.start(self._game)
        rows = [[stones.get((column, row), ".") for column in range(self._size)] for row in range(self._size)]
        text = "/".join("".join(row) for row in rows)
        try:
            return Position.parse(self._game, f"{text} {BLACK if side == 'B' else 'O'} to move")
        except TreetopError as error:
            raise self._wrong(self._nodes[0], f"the stones that are set up: {error}") from None

    def _add_stones(self, node: Node, stones: dict[tuple[int, int], str]) -> bool:
        """Add the stones that a node sets up; return whether it does so."""
        found = [name for name in _SETUP if name in node.properties]
        for name in found:
            for value in node.properties[name]:
                for point in self._points(node, value):
                    stones.pop(point, None)
                    if name != "AE":
                        stones[point] = "X" if name == "AB" else "O"
        return bool(found)

    def _points(self, node: Node, value: str) -> Iterator[tuple[int, int]]:
        """Yield the points of a value: one, or a rectangle such as aa:cc."""
        first, _, last = value.strip().partition(":")
        (left, top), (right, bottom) = self._point(node, first), self._point(node, last or first)
        for row in range(min(top, bottom), max(top, bottom) + 1):
            for column in range(min(left, right), max(left, right) + 1):
                yield column, row

    def _point(self, node: Node, text: str) -> tuple[int, int]:
        """Return the column and the row of a point; the first row is the top one."""
        letters = "abcdefghijklmnopqrstuvwxyz"[: self._size]
        text = text.strip()
        if len(text) == 2 and text[0] in letters and text[1] in letters:
            return letters.index(text[0]), letters.index(text[1])
        if self._game.family == "hex" and (found := re.fullmatch(r"([a-z])(\d{1,2})", text)):  # as HexGui writes it
            column, row = "abcdefghijklmnopqrstuvwxyz".index(found[1]), int(found[2]) - 1
            if column < self._size and 0 <= row < self._size:
                return column, row
        raise self._wrong(
            node,
            f"{shorten(text)} is no point of a board of {self._size}x{self._size}; points are aa to {2 * letters[-1]}",
        )

    # Moves.

    def _follow(self, replay: Replay, path: list[int], comments: dict[int, str]) -> list[Position | None]:
        """Play the moves of nodes in a row; return the position after each, None if a move was left out."""
        positions: list[Position | None] = []
        played = True
        for node in (self._nodes[number] for number in path):
            moves = [(colour, node.properties[colour][0]) for colour in "BW" if colour in node.properties]
            if len(moves) > 1:
                raise self._wrong(node, "a node has a move of both players")
            if replay.position.actions and any(name in node.properties for name in _SETUP):
                raise self._wrong(
                    node,
                    f"stones are set up after move {len(replay.position.actions)}, which is no move of the game: "
                    "split the game there, or skip it",
                )
            for colour, value in moves:
                played = self._play(replay, node, colour, value)
            text = node.text("C")
            if text and played:
                here = len(replay.position.actions)
                comments[here] = "\n".join(filter(None, (comments.get(here), text.strip())))
            positions.append(replay.position if played else None)
        return positions

    def _play(self, replay: Replay, node: Node, colour: str, value: str) -> bool:
        position, value = replay.position, value.strip()
        name = f"move {len(position.actions) + 1}, {colour}[{shorten(value)[1:-1]}]"
        is_pass = not value or (value == "tt" and self._size <= 19)
        if is_pass and self._game.family not in PASSES:
            raise self._wrong(node, f"{name} is a pass, and {self._game.name} has none")
        move = "pass" if is_pass else move_at(self._game, *self._point(node, value))
        seat = "BW".index(colour)
        if not position.is_terminal and position.player != seat:
            if position.legal_moves() != ["pass"]:  # a player of Othello without another move, who is left out
                raise self._wrong(
                    node,
                    f"{name}: {'White' if seat == 0 else 'Black'} is to move; a pass is a move too, as {'WB'[seat]}[], "
                    "and stones at the start belong to AB and AW",
                )
            replay.play("pass", name, node.line)
        return replay.play(move, name, node.line)

    def _variations(self, path: list[int], positions: list[Position | None]) -> Iterator[Variation]:
        """Yield the lines that leave the main line, or another variation, depth first."""
        waiting: list[tuple[int, Position]] = []

        def branch(line: list[int], after: list[Position | None]) -> None:
            for number, position in reversed(list(zip(line, after, strict=True))):
                if position is not None:
                    waiting.extend((child, position) for child in reversed(self._nodes[number].children[1:]))

        branch(path, positions)
        for _ in range(_MOST_VARIATIONS):
            if not waiting:
                return
            child, position = waiting.pop()
            line = [child]
            while self._nodes[line[-1]].children:
                line.append(self._nodes[line[-1]].children[0])
            replay, comments = Replay(position, self._where), dict[int, str]()
            try:
                branch(line, self._follow(replay, line, comments))
            except SaveError as error:
                self._notes.append(f"a variation ends early: {error}")
            yield Variation(replay.position, len(position.actions), comments)
        self._notes.append(f"only the first {_MOST_VARIATIONS:,} variations were read")


def _result(text: str) -> str:
    """Return the result of the property RE.

    >>> _result("B+3.5"), _result("W+R"), _result("0"), _result("Void")
    ('1-0', '0-1', '1/2-1/2', '*')
    """
    start = text.strip().upper()
    if start.startswith(("B+", "W+")):
        return WIN if start[0] == "B" else LOSS
    return DRAW if start in ("0", "DRAW", "JIGO") else UNKNOWN


def sgf_result(game: RecordedGame, tags: Mapping[str, Any]) -> str:
    """Return the property RE of a game: that of the tags if it agrees with the result, else with the score of Go."""
    given = tags.get("RE", "")
    if given and _result(given) == game.result:
        return str(given)
    letter = {WIN: "B", LOSS: "W"}.get(game.result, "")
    lead = game.end.summary().get("lead") if game.end.is_terminal else None
    if letter and lead is not None and (lead > 0) == (letter == "B") and lead != 0:
        return f"{letter}+{abs(lead):g}"
    return f"{letter}+" if letter else "0" if game.result == DRAW else ""
