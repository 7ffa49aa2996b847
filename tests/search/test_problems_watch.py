"""A `step` that changes its argument without a `copy`, or a `copy` that shares something, is an error, not a wrong result."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

import treetop as tt
from tests.search.own_problems import Tour


class Route(Tour):
    """The same with dictionaries that `step` changes and returns."""

    def initial(self):
        return {"at": 0, "left": [3, 1, 2], "cost": 0}

    def actions(self, state):
        return list(state["left"])

    def step(self, state, action):
        state["left"].remove(action)
        state["cost"] += abs(state["at"] - action)
        state["at"] = action
        return state

    def is_terminal(self, state):
        return not state["left"]

    def rewards(self, state):
        return -float(state["cost"])


class Van:
    """A state without a text of its own."""

    def __init__(self):
        self.cargo = Cargo()


class Cargo:
    def __init__(self):
        self.left, self.cost = 3, 0


class Delivery(Tour):
    """What `step` changes is deep inside the state."""

    def initial(self):
        return Van()

    def actions(self, state):
        return ["one", "all"]

    def step(self, state, action):
        state.cargo.left -= 1 if action == "one" else state.cargo.left
        state.cargo.cost += 1 if action == "one" else 5
        return state

    def is_terminal(self, state):
        return state.cargo.left == 0

    def rewards(self, state):
        return -float(state.cargo.cost)


class Paid(Delivery):
    step_rewards = True

    def step(self, state, action):
        return super().step(state, action), -1.0


class Array(Route):
    """Changes an array, and returns another one."""

    def initial(self):
        return np.zeros(5000, np.int64)

    def actions(self, state):
        return [1, 2]

    def step(self, state, action):
        state[2500] += action
        return state.copy()

    def is_terminal(self, state):
        return state[2500] >= 4

    def rewards(self, state):
        return -float(state[2500])


@pytest.mark.parametrize("kind", [Route, Delivery, Paid, Array])
@pytest.mark.parametrize("evaluator", [None, lambda state, actions: (None, -1.0)])
def test_a_step_that_changes_its_argument_without_a_copy_is_an_error(kind, evaluator):
    with pytest.raises(tt.errors.GameError, match=r"step changes the state that it is given.*copy\(state\)"):
        tt.Search(kind(), evaluator=evaluator, seed=1).run(tt.Limit(simulations=50))


def test_the_error_shows_the_state_before_and_after():
    with pytest.raises(tt.errors.GameError, match=r"before: \{'at': 0, .*\nafter:  \{'at': \d") as caught:
        tt.Search(Route(), seed=1).run(tt.Limit(simulations=50))
    assert "by the action" in str(caught.value)


@pytest.mark.parametrize("kind", [Route, Delivery, Paid, Array])
def test_with_a_copy_it_finds_the_best_solution(kind):
    problem = kind()
    problem.copy = copy.deepcopy
    result = tt.Search(problem, seed=1).run(tt.Limit(simulations=300))
    assert result.best.total_reward == {Route: -3.0, Delivery: -3.0, Paid: -6.0, Array: -4.0}[kind]


@pytest.mark.parametrize("evaluator", [None, lambda state, actions: (None, -1.0)])
def test_a_copy_that_shares_a_list_is_an_error(evaluator):
    problem = Route()
    problem.copy = dict
    with pytest.raises(tt.errors.GameError, match="Route.copy must copy everything that changes"):
        tt.Search(problem, evaluator=evaluator, seed=1).run(tt.Limit(simulations=50))


def test_a_rollout_that_changes_its_state_without_a_copy_is_an_error():
    class Played(Route):
        def step(self, state, action):
            return super().step(copy.deepcopy(state), action)

        def rollout(self, state, rng):
            state["left"].clear()
            return -6.0

    with pytest.raises(tt.errors.GameError, match="Played.rollout changes the state"):
        tt.Search(Played(), seed=1).run(tt.Limit(simulations=50))


@dataclasses.dataclass
class Place:
    """A state that fills caches, in hidden fields and in new attributes."""

    number: int
    _known: dict = dataclasses.field(default_factory=dict, repr=False)


class Walk(Tour):
    """Walks to 3; a step into the wall at 0 returns the state itself."""

    def initial(self):
        return Place(0)

    def actions(self, state):
        return [-1, 1]

    def step(self, state, action):
        state._known[action] = state.cached = "looked up"
        return state if state.number + action < 0 else Place(state.number + action)

    def is_terminal(self, state):
        return state.number == 3


class Spot:
    """A place of a fixed map: the states are the places themselves."""

    def __init__(self, number):
        self.number, self.next = number, {}


class Fixed(Tour):
    def __init__(self):
        self.places = [Spot(number) for number in range(4)]
        for spot in self.places:
            spot.next = {"stay": spot, "go": self.places[(spot.number + 1) % 4]}

    def initial(self):
        return self.places[0]

    def actions(self, state):
        return list(state.next)

    def step(self, state, action):
        return state.next[action]

    def is_terminal(self, state):
        return state.number == 3


@pytest.mark.parametrize("problem", [Walk(), Fixed()])
def test_a_step_may_return_the_state_itself_if_nothing_happens_and_may_fill_caches(problem):
    result = tt.Search(problem, seed=1).run(tt.Limit(simulations=100))
    assert result.simulations == 100
    assert not result.failures


def test_an_evaluator_may_keep_something_in_a_state():
    def evaluate(state, actions):
        state.number += 0.0
        return None, -1.0

    assert tt.Search(Walk(), evaluator=evaluate, seed=1).run(tt.Limit(simulations=50)).simulations == 50


def test_steps_after_the_first_ones_are_not_watched():
    calls = []

    class Counted(Place):
        def __repr__(self):
            calls.append(self)
            return super().__repr__()

    class Long(Walk):
        def initial(self):
            return Counted(0)

        def step(self, state, action):
            return Counted(max(0, state.number + action))

    tt.Search(Long(), seed=1).run(tt.Limit(simulations=2000))
    assert len(calls) < 300
