"""Searches over Python objects of wide problems: the buffers grow with the widest node, whoever opens it."""

from __future__ import annotations

import pytest

import treetop as tt


class Wide:
    """Name a number three times; what counts is how near the sum comes to a third of the most."""

    def __init__(self, width, chance):
        self.width = width
        if chance:
            self.player = lambda state: tt.CHANCE if len(state) == 1 else 0
            self.outcomes = lambda state: [(action, 1 / self.width) for action in range(self.width)]

    def initial(self):
        return ()

    def actions(self, state):
        return range(self.width)

    def step(self, state, action):
        return (*state, action)

    def is_terminal(self, state):
        return len(state) == 3

    def rewards(self, state):
        return -abs(sum(state) - self.width) / (3 * self.width)


@pytest.mark.parametrize("chance", [False, True])
@pytest.mark.parametrize("width", [17, 64, 300])
def test_nodes_of_any_width_are_searched(width, chance):
    search = tt.Search(Wide(width, chance), seed=1)
    result = search.run(tt.Limit(simulations=5 * width))
    assert sum(result.visits.values()) == 5 * width - 1
    assert not result.failures
    search.tree.check()


def test_values_on_the_tree_s_own_scale_are_searched():
    problem = Wide(20, chance=True)
    problem.reward_range = (-10, 0)
    search = tt.Search(problem, seed=1)
    assert search.run(tt.Limit(simulations=500)).value < 0
    search.tree.check()
