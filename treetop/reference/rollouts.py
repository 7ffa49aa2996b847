"""What a leaf is worth, as a vector of returns: one number a player."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.reference import chance
from treetop.reference.arithmetic import added, legal_actions, plus
from treetop.reference.node import Node

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch


def evaluate(search: ReferenceSearch, state: Any) -> list[float]:
    """The mix: weight * the mean of some rollouts + (1 - weight) * the heuristic, or the middle of the utility range (uniform)."""
    settings, weight = search.settings, search.settings.rollout_weight
    returns = [0.0] * search.facts.players
    if weight > 0.0:
        rollouts = [rollout(search, state.copy()) for _ in range(settings.count)]
        for one in rollouts:
            returns = plus(returns, one)
        returns = [total / settings.count for total in returns]
    if weight == 1.0:
        return returns
    other = (
        heuristic(search, state) if settings.evaluate == "heuristic" else [search.facts.middle] * search.facts.players
    )
    return (
        other
        if weight == 0.0
        else [weight * mine + (1.0 - weight) * its for mine, its in zip(returns, other, strict=True)]
    )


def rollout(search: ReferenceSearch, state: Any) -> list[float]:
    """What a game played to its end brings, or its heuristic after `depth` moves: the sum of the rewards on the way and at the end.

    Each is multiplied by the discount once for each earlier step: a step is an action with the outcomes of chance that follow it. The moves are noted in `search.trail`; of several
    rollouts those of the last.
    """
    settings = search.settings
    search.trail = []
    gained, worth = [0.0] * search.facts.players, 1.0
    while not state.is_terminal():
        lot = chance.decides(state)
        if not lot and settings.depth is not None and len(search.trail) >= settings.depth:
            break
        mover = int(state.current_player())
        action = chance.random_outcome(search, state) if lot else choose(search, state, mover)
        state.apply(action)
        if not lot:
            worth *= settings.discount if search.trail else 1.0
            search.trail.append((mover, action))
        gained = [gain + worth * reward for gain, reward in zip(gained, chance.received(search, state), strict=True)]
    worth *= settings.discount if search.trail else 1.0
    returns = outcome(search, state) if state.is_terminal() else heuristic(search, state)
    return [gain + worth * value for gain, value in zip(gained, returns, strict=True)]


def choose(search: ReferenceSearch, state: Any, mover: int) -> int:
    """The next move of a rollout, by its policy."""
    policy = search.settings.policy
    if policy == "game":
        return int(state.rollout_action(search.rng))
    if policy == "mast":
        return greedy(search, state, mover)
    if policy == "mast_softmax":
        return by_softmax(search, state, mover)
    if hasattr(state, "random_action"):
        return int(state.random_action(search.rng))
    actions = legal_actions(search.position, state)
    return actions[search.rng.below(len(actions))]


def usual_value(search: ReferenceSearch, mover: int, action: int) -> float:
    """What a move was worth to its player in all simulations so far; the middle of the utility range where it was never made."""
    total, count = search.history.get((mover, action), (0.0, 0.0))
    return total / count if count else search.facts.middle


def greedy(search: ReferenceSearch, state: Any, mover: int) -> int:
    """mast: with a share epsilon any move, else one of those with the highest usual value."""
    actions = legal_actions(search.position, state)
    if search.rng.random() < search.settings.epsilon:
        return actions[search.rng.below(len(actions))]
    worth = [usual_value(search, mover, action) for action in actions]
    best = [action for action, value in zip(actions, worth, strict=True) if value == max(worth)]
    return best[search.rng.below(len(best))]


def by_softmax(search: ReferenceSearch, state: Any, mover: int) -> int:
    """mast_softmax: a move with a probability in proportion to exp(usual value / temperature)."""
    actions = legal_actions(search.position, state)
    worth = [usual_value(search, mover, action) for action in actions]
    weights = [math.exp((value - max(worth)) / search.settings.temperature) for value in worth]
    drawn = search.rng.random() * added(weights)
    for action, weight in zip(actions[:-1], weights[:-1], strict=True):
        drawn -= weight
        if drawn < 0.0:
            return action
    return actions[-1]


def remember(search: ReferenceSearch, path: list[Node], rewards: list[float]) -> None:
    """Add what this simulation was worth to the table of past moves, for each move in the tree and in the rollout."""
    moves = [(node.chooser, node.action) for above, node in itertools.pairwise(path) if not above.is_drawn]
    for mover, action in moves + search.trail:
        entry = search.history[mover, action]
        entry[0] += rewards[mover]
        entry[1] += 1.0


def outcome(search: ReferenceSearch, state: Any) -> list[float]:
    """The rewards of a finished game."""
    return _told(search, state.rewards)


def heuristic(search: ReferenceSearch, state: Any) -> list[float]:
    """What the game itself thinks of a position."""
    return _told(search, state.heuristic)


def heuristic_logits(search: ReferenceSearch, state: Any, actions: list[int]) -> list[float]:
    """For each move what the mover receives, or the game thinks, of the position after it, divided by the temperature.

    With the move's own reward: r + discount * that.
    """
    mover, temperature = int(state.current_player()), search.settings.prior_temperature
    assert temperature is not None
    logits = []
    for action in actions:
        following = state.copy()
        following.apply(action)
        told = chance.made_paranoid(
            search, outcome(search, following) if following.is_terminal() else heuristic(search, following)
        )
        fade = 1.0 if chance.decides(following) else search.settings.discount
        logits.append((fade * told[mover] + chance.received(search, following)[mover]) / temperature)
    return logits


def _told(search: ReferenceSearch, method: Any) -> list[float]:
    out = np.zeros(search.facts.players)
    method(out)
    return [float(value) for value in out]
