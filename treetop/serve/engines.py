"""How a position is searched: a rule as text, an evaluator, a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treetop.arena.seeds import PLAYER, derive
from treetop.game.position import Position
from treetop.players.rules import parse_rule, recommended_rule
from treetop.search.config import SearchConfig
from treetop.search.evaluator import make_evaluator
from treetop.search.search import Search


@dataclass(frozen=True)
class Engine:
    """The settings of searches: a rule as text (None: the one recommended for the game), an evaluator (None: that of
    the rule), a seed. Raise a ConfigError where the rule cannot be read.

    >>> import treetop as tt
    >>> search = Engine("uct(c=1.0)", seed=1).search(tt.position("nim"))
    >>> search.config.rule.c, search.seed
    (1.0, 1)
    """

    rule: str | None = None
    evaluator: Any = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rule is not None:
            parse_rule(self.rule)

    def parts(self, position: Position, most_nodes: int | None = None) -> tuple[SearchConfig, Any, int]:
        """Return the settings, the evaluator and the seed of a search whose tree has at most so many nodes.

        In games with hidden information each position has a seed of its own.
        """
        rule = self.rule or (recommended_rule(position.game, None) if self.evaluator is None else "puct(c=1.5)")
        config, named = parse_rule(rule)
        evaluator = make_evaluator(named or "rollout") if self.evaluator is None else self.evaluator
        if most_nodes is not None:
            config = config.with_options(max_nodes=min(config.growth.max_nodes or most_nodes, most_nodes))
        seed = derive(self.seed, PLAYER, len(position.actions)) if position.game.has("determinize") else self.seed
        return config.for_play(), evaluator, seed

    def search(
        self, position: Position, player: int | None = None, most_nodes: int | None = None, *, seed: int | None = None,
        threads: int = 1,
    ) -> Search:  # fmt: skip
        """Return a new search of a position; raise a TreetopError where the rule does not fit it."""
        config, evaluator, own = self.parts(position, most_nodes)
        return Search(
            position, config, evaluator=evaluator, seed=own if seed is None else seed, player=player, threads=threads
        )
