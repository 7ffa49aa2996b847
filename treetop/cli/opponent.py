"""The engine of `treetop play`: its settings, and a search whose tree is reused from move to move."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from treetop.arena.seeds import PLAYER, derive
from treetop.cli.common import run_with_progress
from treetop.game.position import Position

if TYPE_CHECKING:
    from treetop.evaluators.networks.model import Model
    from treetop.search.config import SearchConfig
    from treetop.search.limits import Limit
    from treetop.search.result import SearchResult
    from treetop.search.search import Search

_DEFAULT_SECONDS = 1.0


@dataclass(frozen=True)
class Settings:
    """The settings of the engine, and the seed of chance."""

    rule: str = "uct"
    c: float | None = None
    seed: int = 0
    simulations: int | None = None
    seconds: float | None = _DEFAULT_SECONDS
    threads: int = 1

    def but(
        self, rule: str | None, c: float | None, seed: int | None, simulations: int | None, seconds: float | None,
        threads: int,
    ) -> Settings:  # fmt: skip
        """Return these settings with the given changes. A new limit replaces both old ones."""
        limit = (self.simulations, self.seconds) if simulations is None and seconds is None else (simulations, seconds)
        changed = replace(self, simulations=limit[0], seconds=limit[1], threads=threads)
        return replace(
            changed, rule=rule or self.rule, c=self.c if c is None else c, seed=self.seed if seed is None else seed
        )


class Engine:
    """The engine: a search that advances with the game, so that its tree is reused."""

    def __init__(self, settings: Settings, model: Model | None = None) -> None:
        from treetop.players.rules import parse_rule
        from treetop.search.evaluator import make_evaluator
        from treetop.search.limits import Limit

        self.limit: Limit = Limit(settings.simulations, settings.seconds)
        config, evaluator = parse_rule(settings.rule, settings.c)
        self.config: SearchConfig = config.for_play()
        self.evaluator = model if evaluator is None else make_evaluator(evaluator)
        self._seed, self._threads = settings.seed, settings.threads
        self._search: Search | None = None

    def think(self, position: Position, player: int, what: str) -> SearchResult:
        """Search a position for a player; the tree of the last search is reused if the game continued from it."""
        self._search = self._following(position, player)
        return run_with_progress(self._search, self.limit, what)

    def _following(self, position: Position, player: int) -> Search:
        from treetop.search.drivers import begins_anew
        from treetop.search.search import Search

        if begins_anew(position.game, self.config):
            return Search(
                position,
                self.config,
                evaluator=self.evaluator,
                seed=derive(self._seed, PLAYER, player, len(position.actions)),
                player=player,
                threads=self._threads,
            )
        search = self._search
        if search is not None and bool(search.position.start == position.start):
            known = search.position.actions
            if position.actions[: len(known)] == known:
                for action in position.actions[len(known) :]:
                    search.advance(action)
                return search
        return Search(
            position, self.config, evaluator=self.evaluator, seed=self._seed, player=player, threads=self._threads
        )
