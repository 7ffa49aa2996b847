"""A search as a player: it searches within a limit on each move, and keeps its tree during the game."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from treetop.compiler.engine import tier_of_process
from treetop.errors import SearchError
from treetop.game.choices import first_choice
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.base import BasePlayer
from treetop.players.protocol import Choice
from treetop.search.clock import GameClock
from treetop.search.config import SearchConfig
from treetop.search.limits import Limit
from treetop.search.result import SearchResult
from treetop.search.search import Search

_MOVES_AHEAD = 25  # own moves for which the time of a clock must last, in games that may be longer
_LEAST = 0.001  # seconds


class SearchPlayer(BasePlayer):
    """Play the moves of a search.

    With `reuse` there is one search per game, whose tree follows the moves of all sides and the outcomes of chance
    (tree reuse). Without it each move begins a new search; so it does with imperfect information, simultaneous moves or
    continuous actions. The seed of a search comes from the game's seed and from the history at its beginning.

    >>> import treetop as tt
    >>> player = tt.players.SearchPlayer("mine", tt.uct(), tt.Limit(simulations=500))
    >>> start = tt.position("nim(stones=5)")
    >>> player.begin(start, seed=1)
    >>> start.move_text(player.choose(start))
    '1'
    """

    def __init__(
        self,
        name: str,
        config: SearchConfig,
        limit: Limit,
        *,
        evaluator: Any = None,
        reuse: bool = True,
        threads: int = 1,
        deterministic: bool = False,
        clock_decides: bool = False,
    ) -> None:
        super().__init__(name)
        self.clock_decides = clock_decides
        """Whether the clock of a game replaces the limit; without it the first one reached ends a search."""
        self.config = config.for_play()
        """The settings of its searches."""
        self.limit = limit
        self.evaluator = evaluator
        """The evaluator of leaves. Default: the search's own choice."""
        self.reuse = reuse
        self.threads = threads
        """The threads of its searches; see `Search`."""
        self.deterministic = deterministic
        self.clairvoyant = config.information.name == "perfect"
        """Whether it uses hidden information. A match says so in its records."""
        self.last_result: SearchResult | None = None
        """The result of the last search, with its simulations and seconds; None before the first move of a game."""
        self._search: Search | None = None
        self._ready_for: Game | None = None

    def prepare(self, game: Game) -> None:
        """Compile what its searches of a game need, or load it from the cache."""
        if self._ready_for is not game:
            self._new(first_choice(game), 0, None).prepare()
            self._ready_for = game

    def _new(self, position: Position, seed: int, player: int | None) -> Search:
        """Return a new search."""
        # A clock measures the strength of direct code: it must not depend on when that is ready.
        timed = self.limit.seconds is not None or self.clock is not None
        return Search(
            position, self.config, evaluator=self.evaluator, seed=seed, player=player,
            tier="direct" if timed and tier_of_process() == "auto" else None,
            threads=self.threads, deterministic=self.deterministic,
        )  # fmt: skip

    def begin(self, start: Position, seed: int) -> None:
        """Begin a new game: the tree of the last one is dropped."""
        super().begin(start, seed)
        self._search, self.last_result = None, None

    def choose(self, position: Position) -> Choice:
        """Search within the limit, and play what the final rule chooses."""
        if self._search is None or self._search.position != position:
            self._search = self._new(position, self.seed_at(position), self.chooser(position))
        self.last_result = result = self._search.run(self._limit_at(position))
        if not self.reuse or self._search.begins_anew:
            self._search = None
        if result.interrupted:  # the search ends normally on Ctrl-C, but the user wants the game to stop
            raise KeyboardInterrupt
        return result.choice

    def _limit_at(self, position: Position) -> Limit:
        """Return the limit of a move: in a game with a clock also a share of the time that is left."""
        if self.clock is None:
            return self.limit
        left, _ = self.clock.of_seat(self.seat)
        clock = GameClock(max(left, _LEAST), self.clock.increment)
        length = len(position.actions) + _MOVES_AHEAD * position.game.facts.players
        plan = clock.limit(position, length)
        if self.clock_decides:
            return plan
        return replace(self.limit, seconds=min(plan.seconds or math.inf, self.limit.seconds or math.inf))

    def observe(self, action: Any) -> None:
        """Follow the game with the tree."""
        if self._search is None:
            return
        try:
            self._search.advance(action)
        except SearchError:  # the tree cannot follow: the next move begins a new search
            self._search = None
            return
        if self._search.position.is_terminal:
            self._search = None

    def close(self) -> None:
        """Drop the tree."""
        self._search = None
