"""What a search is told: selection rule, expansion, depth, final move, ties, memory. Frozen; unknown or impossible settings are errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from treetop.errors import ConfigError

TieBreak = Callable[[Sequence[int]], int]
"""Given the actions that are tied, in order, returns one of them."""

ALPHAZERO_C, ALPHAZERO_BASE = 1.25, 19652.0


@dataclass(frozen=True)
class SearchConfig:
    """All settings of a search. `uct()` and `puct()` make one with the usual defaults."""

    rule: Literal["ucb1", "puct"] = "ucb1"
    c: float = math.sqrt(2)
    """The raw exploration factor of the rule's formula."""
    c_base: float | None = None
    """PUCT only: with a base, c grows with the visits N as c + ln((1 + N + c_base) / c_base), AlphaZero's schedule."""
    expand_after: int | None = None
    """Visits that a leaf needs before it is expanded. Not said: 1 with rollouts, 0 with an evaluator that gives priors."""
    max_depth: int | None = None
    """No node deeper than this is expanded; the search evaluates there."""
    final: Literal["visits", "value", "temperature"] = "visits"
    """How the move to play is chosen at the end."""
    temperature: float = 1.0
    """For `final="temperature"`: the move is drawn with probability visits ** (1 / temperature)."""
    tie_break: Literal["random", "first"] | TieBreak = "random"
    """Who decides between exactly equal scores: the seed, the order of the moves, or a function of yours."""
    max_nodes: int | None = None
    """The tree never holds more nodes: at the bound the least visited subtrees are folded and the search goes on."""
    first_play: float | None = None
    """PUCT: the value assumed of a move that was never tried. Not said: the middle of the game's utility range."""
    stop_when_forced: bool = True
    """Where there is only one legal move, stop as soon as it has a value."""

    def __post_init__(self) -> None:
        _one_of("rule", self.rule, ("ucb1", "puct"))
        _one_of("final", self.final, ("visits", "value", "temperature"))
        if not callable(self.tie_break):
            _one_of("tie_break", self.tie_break, ("random", "first"), " or a function")
        _number("c", self.c, low=0.0)
        if self.c_base is not None:
            _number("c_base", self.c_base, low=0.0, open_low=True)
            if self.rule != "puct":
                raise ConfigError("c_base is a schedule of PUCT; UCB1 has none")
        if self.first_play is not None:
            _number("first_play", self.first_play)
            if self.rule != "puct":
                raise ConfigError("first_play is for PUCT; UCB1 tries every move once")
        _number("temperature", self.temperature, low=0.0, infinite=True)
        for name, low in (("expand_after", 0), ("max_depth", 1), ("max_nodes", 2)):
            _whole(name, getattr(self, name), low)

    def but(self, **changes: Any) -> SearchConfig:
        """The same settings with a few changed."""
        return replace(self, **changes)

    def __str__(self) -> str:
        schedule = "" if self.c_base is None else f" + ln((1 + N + {self.c_base:g}) / {self.c_base:g})"
        return f"{self.rule}(c={self.c:g}{schedule})"


def uct(c: float = math.sqrt(2), **options: Any) -> SearchConfig:
    """UCB1 on trees: the choice for searches by rollouts. `c` is for rewards from -1 to 1 or thereabouts."""
    return _config(rule="ucb1", c=c, **options)


def puct(c: float | None = None, **options: Any) -> SearchConfig:
    """PUCT: the choice where priors exist. Without `c` it follows AlphaZero's schedule, with it c is constant."""
    if c is None and "c_base" not in options:
        return _config(rule="puct", c=ALPHAZERO_C, c_base=ALPHAZERO_BASE, **options)
    return _config(rule="puct", c=ALPHAZERO_C if c is None else c, **options)


def _config(**options: Any) -> SearchConfig:
    try:
        return SearchConfig(**options)
    except TypeError as error:
        names = ", ".join(SearchConfig.__dataclass_fields__)
        raise ConfigError(f"{str(error).split(') ', 1)[-1]}; the options are {names}") from None


def _one_of(name: str, value: object, allowed: tuple[str, ...], more: str = "") -> None:
    if value not in allowed:
        raise ConfigError(f"{name} must be {' or '.join(map(repr, allowed))}{more}, not {value!r}")


def _number(name: str, value: Any, *, low: float = -math.inf, open_low: bool = False, infinite: bool = False) -> None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
    good = good and (infinite or math.isfinite(value)) and (value > low if open_low else value >= low)
    if not good:
        bound = "" if low == -math.inf else (f" above {low:g}" if open_low else f" of at least {low:g}")
        raise ConfigError(f"{name} must be a number{bound}, not {value!r}")


def _whole(name: str, value: Any, low: int) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < low):
        raise ConfigError(f"{name} must be a whole number of at least {low}, not {value!r}")
