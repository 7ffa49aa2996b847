"""Read games in PGN (portable game notation): chess, Chess960 and, with the tag `Variant`, other games of two players.

A reader of files from anywhere: everything is bounded, nothing recurses, and a move counts only if the rules allow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from treetop.checks import shorten
from treetop.errors import GameDefinitionError, SaveError, TreetopError, UnknownGameError
from treetop.game.definition import Game
from treetop.game.notation.recorded import (
    DRAW,
    LOSS,
    UNKNOWN,
    WIN,
    RecordedGame,
    Replay,
    Variation,
    collected,
    require_recordable,
)
from treetop.game.notation.texts import read_text
from treetop.game.position import Position
from treetop.game.registry import BUNDLED, load_bundled, load_game

_MOST_TOKENS = 200_000  # of one game
_DEEPEST = 500  # variations inside variations
_TOKEN = re.compile(
    r"""(?P<space>\s+|^%[^\n]*)
    |(?P<comment>\{[^}]{0,100000}\}|;[^\n]*)
    |\[\s*(?P<tag>\w+)\s*"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\]
    |(?P<nag>\$\d{1,3})
    |(?P<bracket>[()])
    |(?P<word>[^\s{}()\[\];]+)""",
    re.VERBOSE | re.MULTILINE,
)
_NEXT_GAME = re.compile(r"^\[Event\s|(?<=\n\n)\[\w", re.MULTILINE)
_NUMBER = re.compile(r"\d+\.+|\.+")
_RESULTS = {"1-0": WIN, "0-1": LOSS, "1/2-1/2": DRAW, "1/2": DRAW, "½-½": DRAW, "*": UNKNOWN}
_SUFFIXES = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
_CHESS = ("", "chess", "standard", "normal", "from position")
_CHESS_960 = ("chess960", "chess 960", "fischerandom", "fischerrandom", "fischer random", "freestyle")


def read_pgn(
    path: str | Path,
    *,
    game: str | Game | None = None,
    variations: bool = False,
    skipped: list[SaveError] | None = None,
) -> Iterator[RecordedGame]:
    """Yield the games of a PGN file, one after the other.

    The game is that of the tag `Variant`, chess without it; `game` replaces it. A wrong game raises a `SaveError` with
    its number and its line; with a list `skipped`, the error is appended to it and the next game is read. `variations`
    reads the lines beside the game too.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "games.pgn"
    ...     tt.records.write_pgn(file, [tt.position("chess", moves="f3 e5 g4 Qh4")])
    ...     [game] = tt.records.read_pgn(file)
    >>> game.result, len(game.actions)
    ('0-1', 4)
    """
    path = Path(path)
    return _games(read_text(path), str(path), game, variations, skipped)


def parse_pgn(
    text: str,
    *,
    game: str | Game | None = None,
    variations: bool = False,
    skipped: list[SaveError] | None = None,
    source: str = "the text",
) -> Iterator[RecordedGame]:
    """Yield the games of a text in PGN, as `read_pgn` does. `source` names the text in errors.

    >>> [game] = parse_pgn("1. e4 e5 2. Nf3 *")
    >>> game.end.moves()
    ['e2e4', 'e7e5', 'g1f3']
    """
    return _games(text, source, game, variations, skipped)


def _games(
    text: str, source: str, game: str | Game | None, variations: bool, skipped: list[SaveError] | None
) -> Iterator[RecordedGame]:
    given = None if game is None else load_game(game)
    if given is not None:
        require_recordable(given)

    def read() -> Iterator[RecordedGame | SaveError]:
        for raw in _split(text.replace("\r\n", "\n").replace("\r", "\n")):
            try:
                yield _Reading(raw, source, given, variations).game()
            except SaveError as error:
                yield error

    return collected(read(), skipped)


# The text of each game.


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


@dataclass
class _Raw:
    """The tokens of one game."""

    number: int
    line: int
    tags: dict[str, str] = field(default_factory=dict)
    tokens: list[_Token] = field(default_factory=list)
    result: str | None = None
    wrong: str = ""
    """What is wrong with the text, with the line."""
    has_moves: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it has only comments, as after the last game of a file."""
        return not (self.tags or self.wrong or self.has_moves)


def _split(text: str) -> Iterator[_Raw]:
    """Yield the games of a text. After an error the next game begins at its tags."""
    place, line, depth, raw = 0, 1, 0, _Raw(1, 1)
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or len(raw.tokens) > _MOST_TOKENS:
            raw.wrong = raw.wrong or f"line {line}: {_trouble(text, place, raw)}"
            following = _NEXT_GAME.search(text, place + 1)
            end = following.start() if following else len(text)
            line, place = line + text.count("\n", place, end), end
            yield raw
            raw, depth = _Raw(raw.number + 1, line), 0
            continue
        kind, token = found.lastgroup or "", found[0]
        kind = "tag" if kind == "value" else kind
        if kind == "tag" and raw.tokens and not raw.is_empty:  # the game before has no result
            yield raw
            raw, depth = _Raw(raw.number + 1, line), 0
        if kind != "space" and raw.is_empty:
            raw.line = line
        if kind == "tag":
            raw.tags.setdefault(found["tag"], re.sub(r"\\(.)", r"\1", found["value"]))
        elif kind == "word" and token in _RESULTS and depth == 0:
            raw.result = _RESULTS[token]
            yield raw
            raw = _Raw(raw.number + 1, line)
        elif kind != "space":
            depth += (token == "(") - (token == ")") if kind == "bracket" else 0
            raw.tokens.append(_Token(kind, token, line))
            raw.has_moves |= kind != "comment"
        line, place = line + token.count("\n"), found.end()
    if not raw.is_empty:
        yield raw


def _trouble(text: str, place: int, raw: _Raw) -> str:
    if len(raw.tokens) > _MOST_TOKENS:
        return f"the game has more than {_MOST_TOKENS:,} moves and comments"
    if text[place] == "{":
        return "a comment that begins here is not closed by } within 100,000 characters; the file may be truncated"
    if text[place] == "[":
        return 'a tag must be written as [Name "value"] in one line'
    return f"{shorten(text[place : place + 20])} is not expected here"


# The moves of one game.


@dataclass
class _Line:
    """The game or a variation, as far as it is read."""

    replay: Replay
    ply: int
    before: Position | None = None
    """The position before the last move; None if there is none, or if it was left out."""
    is_cut: bool = False
    """Whether the rest is left out."""
    comments: dict[int, str] = field(default_factory=dict)
    nags: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def here(self) -> int:
        """The number of actions so far."""
        return len(self.replay.position.actions)

    def add_nag(self, number: int) -> None:
        """Add a glyph to the last move."""
        self.nags[self.here] = (*self.nags.get(self.here, ()), number)


class _Reading:
    """Reads the tokens of one game."""

    def __init__(self, raw: _Raw, source: str, given: Game | None, variations: bool) -> None:
        self._raw, self._wants_variations = raw, variations
        self._where = f"{source}: game {raw.number}"
        if raw.wrong:
            raise SaveError(f"{self._where}, {raw.wrong}")
        self._game = given or self._variant()
        self._has_notation = self._game.has("notation")
        self._main = _Line(Replay(self._start(), self._where), 0)
        self._open = [self._main]
        self._skipping = 0
        self._variations: list[Variation] = []
        self._notes: list[str] = []

    def game(self) -> RecordedGame:
        """Return the game; raise SaveError if it is wrong."""
        raw = self._raw
        for token in raw.tokens:
            self._take(token)
        if len(self._open) > 1 or self._skipping:
            raise SaveError(
                f"{self._where}, line {raw.line}: a variation is not closed by ); the file may be truncated"
            )
        if raw.result is None:
            raise SaveError(
                f"{self._where}, line {raw.line}: it has no result (1-0, 0-1, 1/2-1/2 or *) after its moves; the file "
                "may be truncated: add the result, or * if it is unknown"
            )
        main, result = self._main, self._result(raw.result)
        tags = {name: raw.tags.pop(name, "?") for name in ("White", "Black")}
        return RecordedGame(
            main.replay.position,
            (tags["White"], tags["Black"]),
            result,
            raw.tags,
            main.comments,
            main.nags,
            tuple(self._variations),
            (*main.replay.notes(result), *self._notes),
            f"{self._where}, line {raw.line}",
        )

    def _variant(self) -> Game:
        name = self._raw.tags.get("Variant", "").strip()
        short = name.lower()
        try:
            if short in _CHESS or short in _CHESS_960:
                return load_bundled("chess" if short in _CHESS else "chess(variant='960')")
            game = load_bundled(short if short in BUNDLED else name)
            require_recordable(game)
        except (UnknownGameError, GameDefinitionError) as error:
            raise SaveError(
                f"{self._where}, line {self._raw.line}: the variant {shorten(name)} is not a bundled game: pass the "
                f"game, or skip this one ({error})"
            ) from None
        except TreetopError as error:
            raise SaveError(f"{self._where}, line {self._raw.line}: {error}") from None
        return game

    def _start(self) -> Position:
        text = self._raw.tags.get("FEN")
        if text is None:
            if self._game.has("deal"):
                raise SaveError(
                    f"{self._where}, line {self._raw.line}: {self._game.name} has many starts: the tag FEN must name it"
                )
            return Position.start(self._game)
        try:
            return Position.parse(self._game, text)
        except TreetopError as error:
            raise SaveError(f"{self._where}, line {self._raw.line}: the tag FEN: {error}") from None

    def _result(self, token: str) -> str:
        tag = _RESULTS.get(self._raw.tags.pop("Result", "*").strip(), UNKNOWN)
        if UNKNOWN not in (tag, token) and tag != token:
            raise SaveError(
                f"{self._where}, line {self._raw.line}: the tag Result says {tag}, but the moves end with {token}: "
                "correct one of them"
            )
        return tag if token == UNKNOWN else token

    def _take(self, token: _Token) -> None:
        line = self._open[-1]
        if token.kind == "bracket":
            self._turn(token)
        elif self._skipping:
            return
        elif token.kind == "comment":
            text = " ".join(token.text.strip("{};").split())
            line.comments[line.here] = " ".join(filter(None, (line.comments.get(line.here), text)))
        elif token.kind == "nag":
            line.add_nag(int(token.text[1:]))
        else:
            self._play(token)

    def _turn(self, token: _Token) -> None:
        """Open or close a variation."""
        if token.text == ")":
            if self._skipping:
                self._skipping -= 1
            elif len(self._open) > 1:
                self._close()
            else:
                raise SaveError(f"{self._where}, line {token.line}: there is no ( before this )")
            return
        line = self._open[-1]
        if self._skipping + len(self._open) > _DEEPEST:
            raise SaveError(f"{self._where}, line {token.line}: more than {_DEEPEST} variations inside each other")
        if self._skipping or not self._wants_variations or line.before is None:
            self._skipping += 1
        else:
            self._open.append(_Line(line.replay.fork(line.before), line.here - 1))

    def _close(self) -> None:
        line = self._open.pop()
        self._variations.append(Variation(line.replay.position, line.ply, line.comments, line.nags))

    def _play(self, token: _Token) -> None:
        line, text = self._open[-1], _NUMBER.sub("", token.text, count=1) if _NUMBER.match(token.text) else token.text
        bare = text.rstrip("!?")
        if self._has_notation and (text.isdecimal() or text in ("e.p.", "ep")):
            return
        if bare and not line.is_cut:
            before, name = line.replay.position, self._name(line, bare)
            try:
                line.before = before if line.replay.play(bare, name, token.line) else None
            except SaveError as error:
                if line is self._main:
                    raise
                line.is_cut, line.before = True, None
                self._notes.append(f"a variation ends early: {error}")
        elif bare:
            return
        if text != bare:
            line.add_nag(_SUFFIXES.get(text[len(bare) :], 5))

    @staticmethod
    def _name(line: _Line, text: str) -> str:
        """Return a move with its number, for errors."""
        position = line.replay.position
        return f"move {line.here + 1} ({shorten(text)} of player {position.player})"
