"""Evaluations of a leaf: vectors with a value for each player."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from treetop.reference import chance
from treetop.reference.arithmetic import added, by_player, legal_actions, plus
from treetop.reference.node import Node

if TYPE_CHECKING:
    from treetop.reference.search import ReferenceSearch


def evaluate(search: ReferenceSearch, state: Any) -> list[float]:
    """Return weight * the mean of some rollouts + (1 - weight) * the heuristic or the middle of the range (uniform)."""
    settings, weight = search.settings, search.settings.rollout_weight
    returns = [0.0] * search.facts.players
    if weight > 0.0:
        for _ in range(settings.count):
            returns = plus(returns, rollout(search, state.copy()))
        returns = [total / settings.count for total in returns]
    if weight == 1.0:
        return returns
    middle = [search.facts.middle] * search.facts.players
    other = heuristic(search, state) if settings.evaluate == "heuristic" else middle
    if weight == 0.0:
        return other
    return [weight * mean + (1.0 - weight) * value for mean, value in zip(returns, other, strict=True)]


def rollout(search: ReferenceSearch, state: Any) -> list[float]:
    """Play a game to its end, or for `depth` moves, and return the discounted sum of its rewards.

    A game that is cut off adds its heuristic. A reward is multiplied by the discount once for each earlier step: a step
    is an action with the outcomes of chance that follow it. The moves are kept in `search.rollout_moves`; of several
    rollouts those of the last one.
    """
    settings = search.settings
    search.rollout_moves = []
    gained, weight = [0.0] * search.facts.players, 1.0
    while not state.is_terminal():
        is_chance = chance.is_chance_state(state)
        if not is_chance and settings.depth is not None and len(search.rollout_moves) >= settings.depth:
            break
        mover = int(state.current_player())
        action = chance.random_outcome(search, state) if is_chance else choose(search, state, mover)
        state.apply(action)
        if not is_chance:
            weight *= settings.discount if search.rollout_moves else 1.0
            search.rollout_moves.append((mover, action))
        gained = [
            gain + weight * reward for gain, reward in zip(gained, chance.step_rewards(search, state), strict=True)
        ]
    weight *= settings.discount if search.rollout_moves else 1.0
    returns = outcome(search, state) if state.is_terminal() else heuristic(search, state)
    return [gain + weight * value for gain, value in zip(gained, returns, strict=True)]


def choose(search: ReferenceSearch, state: Any, mover: int) -> int:
    """Return the next action of a rollout, by its policy."""
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


def mean_of_move(search: ReferenceSearch, mover: int, action: int) -> float:
    """Return the mean return of a move to its player over all simulations; the middle of the range if it has none."""
    total, count = search.history.get((mover, action), (0.0, 0.0))
    return total / count if count else search.facts.middle


def greedy(search: ReferenceSearch, state: Any, mover: int) -> int:
    """Return an action by MAST: any action with probability epsilon, else one with the highest mean of the move."""
    actions = legal_actions(search.position, state)
    if search.rng.random() < search.settings.epsilon:
        return actions[search.rng.below(len(actions))]
    means = [mean_of_move(search, mover, action) for action in actions]
    best = [action for action, value in zip(actions, means, strict=True) if value == max(means)]
    return best[search.rng.below(len(best))]


def by_softmax(search: ReferenceSearch, state: Any, mover: int) -> int:
    """Return an action by MAST with a softmax: probabilities proportional to exp(mean of the move / temperature)."""
    actions = legal_actions(search.position, state)
    means = [mean_of_move(search, mover, action) for action in actions]
    weights = [math.exp((value - max(means)) / search.settings.temperature) for value in means]
    point = search.rng.random() * added(weights)
    for action, weight in zip(actions[:-1], weights[:-1], strict=True):
        point -= weight
        if point < 0.0:
            return action
    return actions[-1]


def update_history(search: ReferenceSearch, path: list[Node], rewards: list[float]) -> None:
    """Add the returns of a simulation to the statistics of each of its moves, in the tree and in the rollout."""
    moves = [(node.chooser, node.action) for above, node in itertools.pairwise(path) if not above.is_chance]
    for mover, action in moves + search.rollout_moves:
        entry = search.history[mover, action]
        entry[0] += rewards[mover]
        entry[1] += 1.0


def outcome(search: ReferenceSearch, state: Any) -> list[float]:
    """Return the rewards of a finished game."""
    return by_player(search.facts.players, state.rewards)


def heuristic(search: ReferenceSearch, state: Any) -> list[float]:
    """Return the game's heuristic value of a state, for each player."""
    return by_player(search.facts.players, state.heuristic)


def heuristic_logits(search: ReferenceSearch, state: Any, actions: list[int]) -> list[float]:
    """Return (r + discount * V) / temperature for each action.

    r is the mover's immediate reward, and V its value of the position that follows: the rewards of a finished game,
    else the heuristic.
    """
    mover, temperature = int(state.current_player()), search.settings.prior_temperature
    assert temperature is not None
    logits = []
    for action in actions:
        following = state.copy()
        following.apply(action)
        values = chance.paranoid_rewards(
            search, outcome(search, following) if following.is_terminal() else heuristic(search, following)
        )
        discount = 1.0 if chance.is_chance_state(following) else search.settings.discount
        logits.append((discount * values[mover] + chance.step_rewards(search, following)[mover]) / temperature)
    return logits
