"""What to play wherever a player may find itself: strategies for a whole game of hidden cards or of moves made at once."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    """For each view of a search the probabilities of its actions: the mean strategy of regret matching, or else the shares of visits.

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
        """How many simulations they come from."""
        self._shares: dict[int, dict[int, float]] = {}
        for view in np.flatnonzero((keys != 0) & ((links["flags"] & DRAWN) == 0)):
            block = slice(
                int(links["first_child"][view]), int(links["first_child"][view]) + int(links["num_children"][view])
            )
            total = float(weights[block].sum())
            if total > 0:
                actions, shares = links["action"][block].tolist(), (weights[block] / total).tolist()
                self._shares[int(keys[view])] = dict(zip(actions, shares, strict=True))

    def of(self, position: Position, player: int | None = None) -> dict[int, float]:
        """The probabilities of a player's actions in a position; all alike where the search never was."""
        mover = position.player if player is None else player
        actions: list[Any] = position.legal_actions(mover)
        if not actions:
            raise ConfigError(f"player {mover} has nothing to choose here\n{position}")
        known = self._shares.get(set_key(position, mover), {})
        shares = {action: known.get(action, 0.0) for action in actions}
        total = sum(shares.values())
        return {action: share / total if total > 0 else 1.0 / len(actions) for action, share in shares.items()}

    def __len__(self) -> int:
        return len(self._shares)

    def __repr__(self) -> str:
        return f"<strategies for {len(self):,} views, from {self.simulations:,} simulations>"


def find_strategies(
    game: str | Game | Family[...] | Position,
    config: SearchConfig | None = None,
    *,
    simulations: int = 1_000_000,
    seed: int = 0,
) -> Strategies:
    """Search a whole game from a position, deals included, for what every player should do in all that he may come to see.

    By regret matching the mean strategies come close to an equilibrium in games of two players whose gains are the other's losses.
    By UCB1 they need not: see docs/imperfect-information.md.
    """
    position = game if isinstance(game, Position) else Position(load_game(game))
    wanted = regret_matching() if config is None else config
    if (
        not needs_information_sets(position.game, wanted)
        or getattr(wanted.information, "observers", "single") != "multiple"
    ):
        raise ConfigError(
            "strategies for all players are for games with imperfect information or simultaneous moves, with observers='multiple'"
        )
    if isinstance(simulations, bool) or not isinstance(simulations, int) or simulations < 1:
        raise ConfigError(f"simulations must be a whole number of at least 1, not {simulations!r}")
    driver = InformationSetDriver(position, wanted, Rollout(), seed, 0)
    driver.control["hidden"] = 0  # everything is drawn from the position itself: nobody's view is taken
    driver.run(simulations)
    return Strategies(driver)
