"""The search over a learned model: the same as a search with explicit rewards and discounts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treetop as tt
from treetop.errors import ConfigError
from treetop.train.muzero.problem import DEEPEST, LatentSearches

ACTIONS, STATES, DISCOUNT = 3, 11, 0.9


class Known:
    """A model by tables: a state is one number, which the latent vector holds."""

    actions, discount = ACTIONS, DISCOUNT

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.following = rng.integers(STATES, size=(STATES, ACTIONS))
        self.rewards = rng.normal(0.0, 5.0, (STATES, ACTIONS))
        self.logits = rng.normal(0.0, 1.0, (STATES, ACTIONS))
        self.values = rng.normal(0.0, 20.0, STATES)
        self.batches: list[int] = []

    def represent(self, observations):
        return observations

    def step(self, latents, actions):
        states = latents[:, 0].astype(int)
        self.batches.append(len(states))
        return self.following[states, actions][:, None].astype(np.float32), self.rewards[states, actions]

    def predict(self, latents):
        states = latents[:, 0].astype(int)
        return self.logits[states], self.values[states]


class Node:
    """A node of the plain search: values are those of its own state, without what was received before it."""

    def __init__(self, model: Known, state: int) -> None:
        self.state, self.children = state, {}
        self.logits = model.logits[state] - np.log(np.exp(model.logits[state]).sum())
        self.value, self.visits, self.total = model.values[state], 0, 0.0

    def improved(self, model: Known):
        """Return the logits of the improved policy, and the visits and the Q of each action: r + discount * v."""
        visits, q = np.zeros(ACTIONS), np.zeros(ACTIONS)
        for action, child in self.children.items():
            visits[action] = child.visits
            q[action] = model.rewards[self.state, action] + DISCOUNT * child.total / child.visits
        seen, priors = visits > 0, np.exp(self.logits)
        mixed = self.value
        if seen.any():
            mean = (priors[seen] * q[seen]).sum() / priors[seen].sum()
            mixed = (self.value + visits.sum() * mean) / (1 + visits.sum())
        completed = np.where(seen, q, mixed)
        completed = (completed - completed.min()) / max(completed.max() - completed.min(), 1e-8)
        return self.logits + (50 + visits.max()) * 0.1 * completed, visits, q


def schedule(considered: int, simulations: int) -> list[int]:
    """Return the visits that the child of each simulation has before it, by sequential halving."""
    phases, found, counts, alive = math.ceil(math.log2(considered)), [], [0] * considered, considered
    while len(found) < simulations:
        for _ in range(max(1, simulations // (phases * alive))):
            found += counts[:alive]
            counts[:alive] = [count + 1 for count in counts[:alive]]
        alive = max(2, alive // 2)
    return found[:simulations]


def plain_search(model: Known, state: int, simulations: int) -> Node:
    """Search with explicit rewards and discounts, without noise."""
    root = Node(model, state)
    root.visits, root.total = 1, root.value
    for wanted in schedule(ACTIONS, simulations - 1):
        node, path = root, []
        while True:
            logits, visits, _ = node.improved(model)
            if node is root:
                scores = np.where(visits == wanted, logits, -np.inf)
            else:
                policy = np.exp(logits - logits.max())
                scores = policy / policy.sum() - visits / (1 + visits.sum())
            action = int(scores.argmax())
            path.append((node, action))
            if action not in node.children:
                break
            node = node.children[action]
        leaf = Node(model, int(model.following[node.state, action]))
        node.children[action] = leaf
        leaf.visits, leaf.total, gain = 1, leaf.value, leaf.value
        for node, action in reversed(path):
            gain = model.rewards[node.state, action] + DISCOUNT * gain
            node.visits, node.total = node.visits + 1, node.total + gain
    return root


@pytest.mark.parametrize("seed", range(6))
def test_a_search_over_a_model_equals_a_plain_search_with_rewards_and_discounts(seed):
    model, simulations = Known(seed), 60
    searches = LatentSearches(model, tt.gumbel(gumbel_scale=0.0), slots=STATES, simulations=simulations, seed=seed)
    found = searches.run(np.arange(STATES, dtype=np.float32)[:, None])
    for state in range(STATES):
        root = plain_search(model, state, simulations)
        logits, visits, q = root.improved(model)
        assert found.visits[state].tolist() == visits.tolist()
        assert found.action_values[state] == pytest.approx(q)
        assert found.values[state, 0] == pytest.approx(root.total / root.visits)
        policy = np.exp(logits - logits.max())
        assert found.target[state] == pytest.approx(policy / policy.sum(), abs=1e-5)
        assert found.actions[state] == np.where(visits == visits.max(), logits, -np.inf).argmax()


def test_the_leaves_of_all_trees_are_one_batch():
    model = Known(1)
    searches = LatentSearches(model, tt.gumbel(), slots=8, simulations=10, seed=1)
    searches.run(np.zeros((8, 1), np.float32))
    assert model.batches == [8] * 9


def test_equal_seeds_give_equal_searches_and_another_search_has_other_noise():
    def visits(seed, times):
        searches = LatentSearches(Known(1), tt.gumbel(), slots=16, simulations=3, seed=seed)
        return [searches.run(np.zeros((16, 1), np.float32)).visits.tolist() for _ in range(times)]

    first, second = visits(1, 2)
    assert visits(1, 2) == [first, second]
    assert first != second
    assert visits(2, 1) != [first]


@pytest.mark.parametrize("simulations", [0, 1, DEEPEST])
def test_searches_that_could_reach_the_end_of_the_latent_problem_are_refused(simulations):
    with pytest.raises(ConfigError, match="simulations must be"):
        LatentSearches(Known(1), tt.gumbel(), slots=1, simulations=simulations, seed=1)
