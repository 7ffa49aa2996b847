"""Strategies for a whole game with imperfect information or simultaneous moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop import checks
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.search.config import SearchConfig
from treetop.search.drivers.information_sets import InformationSetDriver, needs_information_sets, set_key
from treetop.search.evaluator import Rollout
from treetop.search.presets import regret_matching
from treetop.tree.layout import DRAWN


class Strategies:
    """For each information set of a search the probabilities of its actions.

    They are the mean strategy of regret matching, or with other rules the shares of the visits.

    >>> import treetop
    >>> strategies = treetop.find_strategies("matching_pennies", simulations=20_000, seed=1)
    >>> 0.4 < strategies.of(treetop.position("matching_pennies"), player=0)[0] < 0.6
    True
    """

    def __init__(self, driver: InformationSetDriver) -> None:
        tree, size = driver.tree, driver.tree.size
        columns = tree.columns
        weights = (
            columns.strategies[:size] if len(columns.strategies) else columns.stats["visits"][:size].astype(np.float64)
        )
        keys, links = columns.keys[:size], columns.links[:size]
        self.simulations = tree.root_visits
        """How many simulations they are based on."""
        self._shares: dict[int, dict[int, float]] = {}
        for node in np.flatnonzero((keys != 0) & ((links["flags"] & DRAWN) == 0)):
            first = int(links["first_child"][node])
            block = slice(first, first + int(links["num_children"][node]))
            total = float(weights[block].sum())
            if total > 0:
                actions, shares = links["action"][block].tolist(), (weights[block] / total).tolist()
                self._shares[int(keys[node])] = dict(zip(actions, shares, strict=True))

    def of(self, position: Position, player: int | None = None) -> dict[int, float]:
        """Return the probabilities of a player's actions in a position; equal ones where the search has no visits."""
        mover = position.player if player is None else player
        actions: list[Any] = position.legal_actions(mover)
        if not actions:
            raise ConfigError(f"player {mover} has no action to choose here: give another player\n{position}")
        known = self._shares.get(set_key(position, mover), {})
        shares = {action: known.get(action, 0.0) for action in actions}
        total = sum(shares.values())
        return {action: share / total if total > 0 else 1.0 / len(actions) for action, share in shares.items()}

    def __len__(self) -> int:
        return len(self._shares)

    def __repr__(self) -> str:
        return f"<strategies for {len(self):,} information sets, from {self.simulations:,} simulations>"


def find_strategies(
    game: str | Game | Family[...] | Position,
    config: SearchConfig | None = None,
    *,
    simulations: int = 1_000_000,
    seed: int = 0,
) -> Strategies:
    """Search a whole game from a position, its chance nodes included, for the strategies of all players.

    With regret matching, the mean strategies of a two-player zero-sum game approach an equilibrium. With UCB1 they need
    not: see docs/imperfect-information.md.

    >>> import treetop as tt
    >>> tt.find_strategies("matching_pennies", tt.regret_matching(), simulations=2_000, seed=1)    # doctest: +ELLIPSIS
    <...>
    """
    position = game if isinstance(game, Position) else Position(load_game(game))
    wanted = regret_matching() if config is None else config
    observers = getattr(wanted.information, "observers", "single")
    if not needs_information_sets(position.game, wanted) or observers != "multiple":
        raise ConfigError(
            "strategies for all players are for games with imperfect information or simultaneous moves, "
            "with observers='multiple'"
        )
    checks.whole("simulations", simulations, 1)
    driver = InformationSetDriver(position, wanted, Rollout(), seed, 0)
    driver.control["hidden"] = 0  # simulations start from the position itself, without determinization
    driver.run(simulations)
    return Strategies(driver)
