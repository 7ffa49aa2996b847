"""The command `go`: what it says about the length of a search."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from treetop import checks
from treetop.errors import ConfigError
from treetop.serve.protocols.clock import Clock

WHOLE = re.compile(r"-?[0-9]{1,12}")
_NUMBERS = (
    "wtime", "btime", "winc", "binc", "movestogo", "nodes", "movetime", "byoyomi", "mate", "depth",
    "time", "increment", "opptime", "oppmovestogo", "oppincrement",  # the last five are of UCCI
)  # fmt: skip
_FLAGS = ("infinite", "ponder", "draw")
_NODES = 100_000  # where only words such as `mate` limit a search
_ENDLESS = 10**9


@dataclass(frozen=True)
class Going:
    """What follows `go`.

    >>> going = Going.parse("movetime 100 searchmoves e2e4 d2d4 ponder".split())
    >>> going.numbers, going.moves, going.waits
    ({'movetime': 100}, ('e2e4', 'd2d4'), True)
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    moves: tuple[str, ...] = ()
    """The moves of `searchmoves`."""
    unknown: tuple[str, ...] = ()
    """Words without a meaning here, which the protocol wants ignored."""

    @classmethod
    def parse(cls, words: Sequence[str]) -> Going:
        """Read words; raise ConfigError for a number that is none, and where no word is known."""
        numbers, flags, moves, unknown, rest = dict[str, int](), set[str](), list[str](), list[str](), [*words[::-1]]
        while rest:
            word = rest.pop()
            if word in _FLAGS:
                flags.add(word)
            elif word == "searchmoves":
                while rest and rest[-1] not in (*_NUMBERS, *_FLAGS):
                    moves.append(rest.pop())
            elif word == "mate" and rest[-1:] == ["infinite"]:
                numbers[word], _ = 0, rest.pop()
            elif word in _NUMBERS:
                if not rest or not WHOLE.fullmatch(rest[-1]):
                    raise ConfigError(f"go {word} needs a whole number")
                numbers[word] = int(rest.pop())
            else:
                unknown.append(word)
        if unknown and not (numbers or flags or moves):
            known = checks.suggest(unknown[0], (*_NUMBERS, *_FLAGS, "searchmoves"))
            raise ConfigError(f"go does not know {checks.shorten(unknown[0])}; {known}")
        return cls(numbers, frozenset(flags), tuple(moves), tuple(unknown))

    @property
    def waits(self) -> bool:
        """Whether the move is sent after `stop` or `ponderhit` only."""
        return not self.flags.isdisjoint(("infinite", "ponder"))

    @property
    def is_endless(self) -> bool:
        """Whether only `stop` ends the search."""
        return self.waits or not self.numbers

    def budget(self, letter: str, overhead: float, *, in_seconds: bool) -> tuple[float | None, int | None]:
        """Return the seconds and the simulations of a move; `letter` is that of the clock of the player to move.

        >>> Going.parse("wtime 60000 btime 100 nodes 500".split()).budget("w", 0.05, in_seconds=False)
        (2.35, 500)
        """
        numbers, unit = self.numbers, 1 if in_seconds else 1000
        seconds = None
        if "movetime" in numbers:
            wanted = max(0, numbers["movetime"]) / 1000
            seconds = max(wanted - overhead, wanted / 2)
        own = "time" in numbers
        left: float | None = numbers.get(f"{letter}time", numbers.get("time"))
        added = numbers.get("increment", 0) / unit if own else numbers.get(f"{letter}inc", 0) / 1000
        period = max(0, numbers.get("byoyomi", 0)) / 1000
        if left is not None or period:
            left = max(0, left or 0) / (unit if own else 1000)
            share = Clock(left, max(0.0, added), numbers.get("movestogo"), period).share(overhead)
            seconds = share if seconds is None else min(seconds, share)
        nodes = numbers.get("nodes", 4 ** max(0, min(numbers["depth"], 12)) * 10 if "depth" in numbers else None)
        if seconds is None and nodes is None:
            nodes = _NODES if numbers else _ENDLESS
        return None if seconds is None else max(0.001, seconds), None if nodes is None else max(1, nodes)
