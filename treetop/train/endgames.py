"""Exact values of the last positions of a game of self-play.

Searches of few simulations lose won endgames, and the values of all earlier positions would learn from that. An exact
search, with a fixed number of positions for each game, solves the last positions, from the end backwards: what it has
found for a position makes the one before it cheap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError, GameError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.oracle.solve_any import ExactSearch, refuse_what_has_no_exact_value


def has_exact_values(game: Game) -> bool:
    """Return whether positions of a game can be solved: two players, zero-sum, no chance, perfect information.

    >>> import treetop as tt
    >>> has_exact_values(tt.load_game("connect_four")), has_exact_values(tt.load_game("pig"))
    (True, False)
    """
    if game.facts.players != 2 or game.has("deal"):
        return False
    try:
        refuse_what_has_no_exact_value(Position(game))
        ExactSearch(Position(game), timed=False)
    except (ConfigError, GameError):  # the second is that of a game whose lines do not fit into memory
        return False
    return True


class Solved(NamedTuple):
    """The exact value of a position."""

    value: float
    """What player 0 receives."""
    best: npt.NDArray[np.bool_] | None
    """Which actions keep the value; None where not all of them were solved."""


class Endgames:
    """Solves the last positions of finished games of one game, each game by a search of `nodes` positions.

    >>> import treetop as tt
    >>> start = tt.position("nim(stones=6)")
    >>> line = [start.record[0], start.apply(0).record[0], start.apply(0).apply(0).record[0]]
    >>> [(one.value, one.best.tolist()) for one in Endgames(start.game, 1000).solve(line)]
    [(-1.0, [True, True, True]), (-1.0, [True, False, False]), (1.0, [False, True, False])]
    """

    def __init__(self, game: Game, nodes: int) -> None:
        self._game, self._nodes = game, nodes
        # A table for fewer positions loses little, and stays in the caches of the processor.
        self._search = ExactSearch(Position(game), timed=False, expected=nodes // 4)

    def solve(self, states: Sequence[Any]) -> list[Solved]:
        """Return the exact values of the states of a game, the last one first, while the search lasts."""
        values, best = self._search.last_values(np.array(states, self._game.dtype), self._nodes)
        return [Solved(value, kept if kept.any() else None) for value, kept in zip(values.tolist(), best, strict=True)]
