"""The UCI protocol and its dialect USI, as texts: options, positions, one best move. It knows nothing about our
games.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from treetop.checks import closest
from treetop.errors import ConfigError, PlayerError
from treetop.players.line_process import LineProcess

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_WORDS = re.compile(r"\b(name|type|default|min|max|var)\b")


@dataclass(frozen=True)
class UciOption:
    """An option of an engine."""

    name: str
    kind: str
    """`check`, `spin`, `combo`, `button` or `string`."""
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    def refusal(self, value: str) -> str | None:
        """Return why a value is refused, or None if it is valid."""
        if self.kind == "combo" and value.lower() not in (choice.lower() for choice in self.choices):
            return f"{value!r} is not one of its values{_nearest(value, self.choices)}: {', '.join(self.choices)}"
        if self.kind == "check" and value not in ("true", "false"):
            return f"it must be true or false, not {value!r}"
        if self.kind == "spin" and not (_WHOLE.fullmatch(value) and _within(int(value), self.low, self.high)):
            return f"it must be a whole number from {self.low} to {self.high}, not {value!r}"
        return None


@dataclass(frozen=True)
class Words:
    """The words in which a dialect differs from UCI."""

    hello: str
    new_game: str
    set_up: str
    """The word before a position as text."""
    variants: tuple[str, ...]
    """The names of the option that chooses a variant."""
    first: str
    """The letter of the first player's clock."""


WORDS = {
    "uci": Words("uci", "ucinewgame", "fen", ("UCI_Variant",), "w"),
    "usi": Words("usi", "usinewgame", "sfen", ("USI_Variant", "UCI_Variant"), "b"),
}
"""The dialects by name."""


class UciEngine:
    """An engine that speaks UCI or a dialect. A position is `start`, a FEN or None for the usual one, and the moves
    played from there.
    """

    def __init__(self, command: Sequence[str], *, start_deadline: float, deadline: float, dialect: str = "uci") -> None:
        self.words = WORDS[dialect]
        self.process = LineProcess(command)
        self.options: dict[str, UciOption] = {}
        """The options of the engine, by lower-case name."""
        self._deadline = deadline
        self._start_deadline = start_deadline
        ready = f"{self.words.hello}ok"
        self.process.send(self.words.hello)
        for line in self.process.lines(start_deadline, ready):
            if line.startswith("option name "):
                option = parse_option(line)
                self.options[option.name.lower()] = option
            elif line.strip() == ready:
                break

    def set_variant(self, name: str) -> None:
        """Set the option that chooses a variant."""
        known = [option for option in self.words.variants if option.lower() in self.options]
        self.set_option(known[0] if known else self.words.variants[0], name)

    def set_option(self, name: str, value: object) -> None:
        """Set an option. Raise an error if the engine does not have it, or not with this value: engines themselves
        ignore it silently.
        """
        option = self.options.get(name.lower())
        if option is None:
            offered = [option.name for option in self.options.values()]
            raise ConfigError(
                f"{self.process.name} has no option {name!r}{_nearest(name, offered)}: {', '.join(offered)}"
            )
        text = str(value).lower() if isinstance(value, bool) else str(value)
        refusal = option.refusal(text)
        if refusal is not None:
            raise ConfigError(f"the option {option.name} of {self.process.name}: {refusal}")
        self.process.send(f"setoption name {option.name}" + ("" if option.kind == "button" else f" value {text}"))

    def ready(self) -> None:
        """Wait until the engine has done everything it was sent."""
        self.process.send("isready")
        for line in self.process.lines(self._start_deadline, "readyok"):
            if line.strip() == "readyok":
                return

    def new_game(self) -> None:
        """Announce that the next position is of another game."""
        self.process.send(self.words.new_game)
        self.ready()

    def best_move(
        self, moves: Sequence[str], limit: str, start: str | None = None, deadline: float | None = None
    ) -> str:
        """Return the engine's move in a position, or `resign`; the limit follows `go`, such as `nodes 5000`."""
        self._position(moves, start)
        self.process.send(f"go {limit}")
        for line in self.process.lines(self._deadline if deadline is None else deadline, "bestmove"):
            words = line.split()
            if words[:1] == ["bestmove"]:
                if len(words) < 2 or words[1] in ("(none)", "0000"):
                    raise self.process.failure("has no move where there is one: it plays by other rules")
                return words[1]
        raise AssertionError("the lines end with an error, never by themselves")

    def perft(self, moves: Sequence[str], depth: int, start: str | None = None) -> int:
        """Return the number of move sequences by the engine's own count (`go perft`, a command of Stockfish)."""
        return self._count(moves, depth, start)[0]

    def legal_moves(self, moves: Sequence[str], start: str | None = None) -> set[str]:
        """Return the names of the legal moves, which the engine lists when it counts them."""
        return self._count(moves, 1, start)[1]

    def _count(self, moves: Sequence[str], depth: int, start: str | None) -> tuple[int, set[str]]:
        """Return the number of move sequences, and the moves with which they begin."""
        self._position(moves, start)
        self.process.send(f"go perft {depth}")
        first = set[str]()
        for line in self.process.lines(
            self._start_deadline, f"count for `go perft {depth}` (an engine without it needs check=0)"
        ):
            found = re.fullmatch(r"(?:Nodes searched|nodes|total)\s*:?\s*(\d+)", line.strip(), re.IGNORECASE)
            if found:
                return int(found[1]), first
            if move := re.fullmatch(r"(\S+): \d+", line.strip()):
                first.add(move[1])
            if line.startswith("bestmove"):
                raise self.process.failure(
                    "does not know `go perft`, so its rules cannot be compared with ours: give check=0 to play without"
                )
        raise AssertionError("the lines end with an error, never by themselves")

    def close(self) -> None:
        """End the engine."""
        self.process.close("quit")

    def _position(self, moves: Sequence[str], start: str | None) -> None:
        where = "startpos" if start is None else f"{self.words.set_up} {start}"
        self.process.send(" ".join([f"position {where}", *(["moves", *moves] if moves else [])]))


def parse_option(line: str) -> UciOption:
    """Parse a line such as `option name Skill Level type spin default 20 min 0 max 20`; names and values may have
    blanks.
    """
    parts = _WORDS.split(line.removeprefix("option "))
    pairs = [(key, value.strip()) for key, value in zip(parts[1::2], parts[2::2], strict=True)]
    found = dict(pairs)
    if "name" not in found or "type" not in found:
        raise PlayerError(f"an engine offers an option that cannot be read: {line!r}")
    low, high = (int(found[key]) if _WHOLE.fullmatch(found.get(key, "")) else None for key in ("min", "max"))
    return UciOption(found["name"], found["type"], low, high, tuple(value for key, value in pairs if key == "var"))


def _within(value: int, low: int | None, high: int | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _nearest(name: str, names: Sequence[str]) -> str:
    close = closest(name, names)
    return f" (did you mean {close}?)" if close else ""
