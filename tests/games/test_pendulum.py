"""The pendulum: its physics against the textbook's, in both modes to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_rng, state_at
from treetop.compiler.rng import Rng
from treetop.errors import UnknownGameError
from treetop.games.pendulum import _sine, pendulum


@compiled
def _play(game, states, word, costs, action, out):
    """A game of random torques; what each step earned."""
    rng = local_rng(word)
    state = state_at(game, states, 0)
    state.reset()
    state.deal(rng)
    steps = 0
    while not state.is_terminal():
        state.sample_action(rng, action)
        state.apply_vector(action)
        out[0] = 0.0
        state.step_rewards(out)
        costs[steps] = out[0]
        steps += 1
    state.heuristic(out)
    return steps


def played(game, rng):
    """The same, interpreted."""
    state = game()
    state.deal(rng)
    action, out, costs = np.zeros(1), np.zeros(1), []
    while not state.is_terminal():
        state.sample_action(rng, action)
        assert -2.0 <= action[0] <= 2.0
        state.apply_vector(action)
        state.step_rewards(out)
        costs.append(out[0])
    return state, costs


@pytest.mark.parametrize("seed", range(5))
def test_both_modes_swing_alike_to_the_last_bit(seed):
    game = pendulum()
    records, costs = np.zeros(1, game.dtype), np.zeros(200)
    assert (
        game.engine(bounds_checked=True).entry(_play)(
            records, np.uint64(Rng(seed).word), costs, np.zeros(1), np.zeros(1)
        )
        == 200
    )
    state, plain = played(game, Rng(seed))
    assert list(costs) == plain
    assert records.tobytes() == state._states.tobytes()
    low, high = game.facts.rewards
    assert low <= sum(plain) <= high


def test_the_sine_is_right_to_fifteen_digits():
    for angle in np.linspace(-math.pi, math.pi, 1001):
        assert _sine(float(angle)) == pytest.approx(math.sin(angle), abs=1e-15)


def test_a_step_is_the_textbooks():
    rng = np.random.default_rng(1)
    for _ in range(200):
        state = pendulum()()
        angle, speed, torque = rng.uniform(-math.pi, math.pi), rng.uniform(-8, 8), rng.uniform(-2, 2)
        state.angle, state.speed = angle, speed
        state.apply_vector(np.array([torque]))
        out = np.zeros(1)
        state.step_rewards(out)
        assert out[0] == pytest.approx(-(angle**2 + 0.1 * speed**2 + 0.001 * torque**2))
        faster = float(np.clip(speed + (15 * math.sin(angle) + 3 * torque) * 0.05, -8, 8))
        assert state.speed == pytest.approx(faster)
        turned = angle + faster * 0.05
        assert state.angle == pytest.approx((turned + math.pi) % (2 * math.pi) - math.pi)


def test_more_torque_than_two_is_cut_off():
    states = [pendulum()() for _ in range(2)]
    for state, torque in zip(states, (2.0, 50.0), strict=True):
        state.apply_vector(np.array([torque]))
    assert states[0]._states.tobytes() == states[1]._states.tobytes()


def test_upright_at_rest_costs_nothing():
    state = pendulum()()
    state.angle = 0.0
    state.apply_vector(np.zeros(1))
    out = np.zeros(1)
    state.step_rewards(out)
    assert out[0] == 0.0
    assert state.angle == state.speed == 0.0


def test_the_motor_cannot_lift_the_rod_at_once_but_swinging_can():
    push, swing = pendulum()(), pendulum()()
    for state in (push, swing):
        state.angle = 3.0
    highest = [math.pi, math.pi]
    for _ in range(200):
        push.apply_vector(np.array([2.0]))
        swing.apply_vector(np.array([2.0 if swing.speed > 0 else -2.0]))
        highest = [min(highest[0], abs(push.angle)), min(highest[1], abs(swing.angle))]
    assert highest[0] > 1.0
    assert highest[1] < 0.2


def test_it_ends_after_its_last_step():
    state = pendulum(horizon=2)()
    state.apply_vector(np.zeros(1))
    assert not state.is_terminal()
    state.apply_vector(np.zeros(1))
    assert state.is_terminal()


def test_a_start_is_drawn_by_lot():
    angles = []
    for seed in range(200):
        state = pendulum()()
        state.deal(Rng(seed))
        assert -1.0 <= state.speed <= 1.0
        angles.append(state.angle)
    assert min(angles) < -2.8
    assert max(angles) > 2.8


def test_a_horizon_of_nothing_is_refused():
    with pytest.raises(UnknownGameError):
        pendulum(horizon=0)
