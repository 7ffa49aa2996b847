"""Value iteration: against hand-made recursions, a linear system, and exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.all_kinds import Drift, Press
from treetop.oracle.exhaustive import Exhaustive
from treetop.oracle.value_iteration import ValueIteration


@tt.game(players=1, num_actions=2, max_length=10_000, num_outcomes=2, rewards=(-20_000, 100))
class Corridor:
    """Five cells; a step to the right or left slips with probability 0.2 and then leads nowhere; each step costs 1, the last cell gives 10."""

    cell = tt.field("i1")
    wish = tt.field("i1")
    gain = tt.field("f8")

    def reset(self):
        self.cell, self.wish, self.gain = 0, 0, 0.0

    def current_player(self):
        return tt.CHANCE if self.wish != 0 else 0

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        return 2

    def chance_outcomes(self, actions, probabilities):
        actions[0], actions[1] = 0, 1
        probabilities[0], probabilities[1] = 0.2, 0.8
        return 2

    def apply(self, action):
        self.gain = 0.0
        if self.wish == 0:
            self.wish = 1 if action == 1 else -1
            self.gain = -1.0
        else:
            if action == 1:
                self.cell = max(0, self.cell + self.wish)
            self.wish = 0

    def is_terminal(self):
        return self.cell == 4

    def step_rewards(self, out):
        out[0] = self.gain

    def rewards(self, out):
        out[0] = 10.0

    def key(self):
        return 3 * self.cell + self.wish + 1


def corridor(discount):
    """The values of the cells when one always goes right: v = -1 + discount * (0.8 v(next) + 0.2 v)."""
    matrix, right = np.eye(5), np.full(5, -1.0)
    for cell in range(4):
        matrix[cell, cell] -= 0.2 * discount
        matrix[cell, cell + 1] -= 0.8 * discount
    right[4] = 10.0
    return np.linalg.solve(matrix, right)


def at(cell):
    state = Corridor()
    state.cell = cell
    return tt.Position(Corridor, state._states)


@pytest.mark.parametrize("discount", [1.0, 0.99, 0.9, 0.5])
def test_a_game_that_may_go_round_forever_has_the_values_of_its_linear_system(discount):
    solved = ValueIteration(tt.position(Corridor), discount=discount)
    assert solved.num_states == 5
    wanted = corridor(discount)
    assert [solved.value(at(cell)) for cell in range(5)] == pytest.approx(wanted.tolist(), abs=1e-9)
    assert all(solved.best_actions(at(cell)) == [1] for cell in range(4))
    assert solved.best_actions(at(4)) == []


def test_action_values_are_what_the_next_states_promise():
    solved = ValueIteration(tt.position(Corridor), discount=0.9)
    values = corridor(0.9)
    wanted = {0: -1 + 0.9 * (0.8 * values[1] + 0.2 * values[2]), 1: -1 + 0.9 * (0.8 * values[3] + 0.2 * values[2])}
    assert solved.action_values(at(2)) == pytest.approx(wanted, abs=1e-9)


def test_a_state_of_chance_has_the_mean_of_what_follows():
    solved = ValueIteration(tt.position(Corridor), discount=0.9)
    values = corridor(0.9)
    assert solved.value(at(2).apply(1)) == pytest.approx(0.8 * values[3] + 0.2 * values[2], abs=1e-9)
    assert solved.action_values(at(2).apply(1)) == {}


def test_a_finite_horizon_counts_the_moves_that_are_left():
    solved = ValueIteration(tt.position(Corridor), horizon=3)
    assert solved.value(at(3), moves_left=0) == 0.0
    assert solved.value(at(3), moves_left=1) == pytest.approx(-1 + 0.8 * 10)
    assert solved.value(at(3), moves_left=2) == pytest.approx(-1 + 0.8 * 10 + 0.2 * (-1 + 0.8 * 10))
    assert solved.value(at(0)) == solved.value(at(0), moves_left=3) == pytest.approx(-3.0)
    assert solved.best_actions(at(0), moves_left=2) == [0, 1]
    assert solved.best_actions(at(3), moves_left=1) == [1]
    assert solved.best_actions(at(3), moves_left=0) == []
    with pytest.raises(tt.errors.ConfigError, match="moves_left must be a whole number from 0 to 3"):
        solved.value(at(0), moves_left=4)


@pytest.mark.parametrize("discount", [1.0, 0.9, 0.3])
def test_a_game_that_ends_has_the_values_of_exhaustive_search(discount):
    start = tt.position(Press)
    solved, oracle = ValueIteration(start, discount=discount), Exhaustive(discount=discount)
    for moves in "", "roll", "roll side1", "roll side2 roll", "roll side1 roll side1 roll side1", "stop":
        position = start.play(moves)
        assert solved.value(position) == pytest.approx(oracle.values(position)[0], abs=1e-10)
    assert solved.best_actions(start) == oracle.best_actions(start)


def test_without_keys_the_states_are_the_records():
    from tests.own_games import Climb

    solved = ValueIteration(tt.position(Climb))
    assert solved.num_states == 45
    assert solved.value(tt.position(Climb)) == 8.0
    assert solved.best_actions(tt.position(Climb)) == [1]


def test_what_it_cannot_do_is_refused():
    with pytest.raises(tt.errors.GameError, match="for one player; nim"):
        ValueIteration(tt.position("nim"))
    with pytest.raises(tt.errors.GameError, match="cannot be listed"):
        ValueIteration(tt.position(Drift))
    with pytest.raises(tt.errors.GameError, match="more than 3 states"):
        ValueIteration(tt.position(Corridor), max_states=3)
    with pytest.raises(tt.errors.ConfigError, match="cannot arise"):
        ValueIteration(at(4)).value(at(0))
    with pytest.raises(tt.errors.ConfigError, match="finite horizon"):
        ValueIteration(tt.position(Corridor)).value(at(0), moves_left=2)
    for wrong in {"discount": 1.1}, {"horizon": -1}, {"horizon": True}, {"tolerance": 0.0}:
        with pytest.raises(tt.errors.ConfigError):
            ValueIteration(tt.position(Corridor), **wrong)
