"""Random openings of games of self-play: positions that good play would avoid, which a network has to judge too."""

from __future__ import annotations

import numpy as np

from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.search.pool import SearchPool
from treetop.search.states import legal_mask
from treetop.types import NONE

_AT_ONCE = 64  # openings that are made at a time, by one call for each move


class Openings:
    """Positions after some random moves, at least one and at most `moves`, outcomes of chance included.

    >>> import numpy as np, treetop as tt
    >>> openings = Openings(tt.load_game("connect_four"), 5, np.random.default_rng(1))
    >>> {len(openings.draw().actions) for _ in range(100)}
    {1, 2, 3, 4, 5}
    """

    def __init__(self, game: Game, moves: int, rng: np.random.Generator) -> None:
        self._moves, self._rng = moves, rng
        self._pool = SearchPool(game, slots=_AT_ONCE, seed=int(rng.integers(2**31)))
        self._ready: list[Position] = []

    def draw(self) -> Position | None:
        """Return a position in which the game is not over, or None if all openings have ended it."""
        if not self._ready:
            self._make()
        return self._ready.pop() if self._ready else None

    def _make(self) -> None:
        """Play random moves in all slots until each has as many as it wants; games that end before are left out."""
        pool, rng = self._pool, self._rng
        pool.replace(range(len(pool)))
        wanted = rng.integers(1, self._moves + 1, len(pool))
        while (waiting := ~pool.is_terminal & (pool.moves_played < wanted)).any():
            legal = legal_mask(pool.game, pool.batch().states)
            ranked = np.where(legal, rng.random(legal.shape), -1.0)
            pool.advance(np.where(waiting, ranked.argmax(axis=1), NONE), restart=False)
        self._ready = [pool.position(slot) for slot in np.flatnonzero(~pool.is_terminal).tolist()]
