"""What an evaluator sees of a Gymnasium environment, and when an episode is over."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import treetop as tt
from treetop.adapters import GymPolicy, GymProblem
from treetop.errors import ConfigError, TerminalPositionError


def balance(observation):
    """A value for CartPole by hand: the more upright and at rest the pole, the longer it stays up."""
    _, _, angle, spin = (float(number) for number in observation)
    return 50.0 * np.exp(-30.0 * (angle + 0.3 * spin) ** 2)


def cart_pole(wrap=lambda env: env, seed=1):
    env = wrap(gymnasium.make("CartPole-v1"))
    return env, env.reset(seed=seed)[0]


def test_a_value_function_of_observations_keeps_the_pole_up():
    env, observation = cart_pole()
    policy = GymPolicy(tt.Limit(simulations=30), evaluator=lambda state, actions: (None, balance(state.observation)))
    for _ in range(60):
        observation, _, terminated, _, _ = env.step(policy(env, observation))
        assert not terminated


@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCar-v0", "Acrobot-v1"])
def test_the_observation_of_the_root_is_found_where_it_can_be(name):
    env = gymnasium.make(name)
    observation, _ = env.reset(seed=3)
    for _ in range(3):
        root = GymProblem(env).initial()
        assert np.array_equal(root.observation, observation)
        assert root.observation.dtype == observation.dtype
        observation, _, _, _, _ = env.step(0)


class Secretive(gymnasium.Env):
    """An environment that keeps its state in a place that only it knows."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(0, 100, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.array([0.0]), {}

    def step(self, action):
        self.count += 1 + action
        return np.array([float(self.count)]), float(action), self.count > 5, False, {}


def look(state, actions):
    return None, float(state.observation[0])


def test_an_unknown_observation_of_the_root_is_an_error_only_for_who_reads_it():
    env = Secretive()
    observation, _ = env.reset(seed=1)
    assert tt.Search(GymProblem(env), seed=1).run(tt.Limit(simulations=20)).action == 1
    with pytest.raises(tt.errors.SearchError, match=r"is not known: give it, as GymProblem\(env, observation=...\)"):
        GymPolicy(tt.Limit(simulations=20), evaluator=look)(env)
    assert "unknown" in repr(GymProblem(env).initial())
    assert GymProblem(env, observation=observation).initial().observation is observation
    assert GymPolicy(tt.Limit(simulations=20), evaluator=look)(env, observation) in (0, 1)


def test_a_policy_takes_the_observation_at_each_call_and_not_before():
    with pytest.raises(ConfigError, match=r"policy\(env, observation\)"):
        GymPolicy(observation=np.zeros(4))


def halved(env):
    return gymnasium.wrappers.TransformObservation(env, lambda seen: seen / 2, env.observation_space)


@pytest.mark.parametrize("snapshot", [False, True])
@pytest.mark.parametrize(
    "wrap", [halved, gymnasium.wrappers.TimeAwareObservation, gymnasium.wrappers.NormalizeObservation]
)
def test_observations_are_those_of_the_wrapped_environment(wrap, snapshot):
    env, observation = cart_pole(wrap)
    env.step(1)
    options = {"snapshot": (save, restore)} if snapshot else {}
    problem = GymProblem(env, observation=observation, **options)
    state = problem.step(problem.initial(), 0)[0]
    later = problem.step(state, 1)[0]
    for expected in (state, later):
        seen, *_ = env.step(0 if expected is state else 1)
        assert np.array_equal(expected.observation, seen)


def test_the_observation_of_the_root_is_transformed_too():
    env, observation = cart_pole(halved)
    assert np.array_equal(GymProblem(env).initial().observation, observation)
    env, observation = cart_pole(gymnasium.wrappers.TimeAwareObservation)
    observation, *_ = env.step(0)
    assert np.array_equal(GymProblem(env).initial().observation, observation)


def save(env):
    return np.array(env.unwrapped.state), env.unwrapped.steps_beyond_terminated


def restore(env, token):
    env.unwrapped.state, env.unwrapped.steps_beyond_terminated = np.array(token[0]), token[1]


def test_a_snapshot_that_does_not_restore_is_an_error_at_the_start():
    for broken in (lambda env, token: None, lambda env, token: setattr(env.unwrapped, "steps_beyond_terminated", None)):
        env, _ = cart_pole()
        for stochastic in (None, False, True):
            with pytest.raises(ConfigError, match=r"snapshot does not restore[\s\S]*reset it"):
                GymProblem(env, snapshot=(save, broken), stochastic=stochastic)
    env, _ = cart_pole()
    with pytest.raises(ConfigError, match="snapshot does not restore"):  # the token is the state itself, which moves on
        GymProblem(Shifted(), snapshot=(lambda env: env.unwrapped.place, lambda env, token: None))


class Shifted(Secretive):
    """Its state changes in place."""

    def __init__(self):
        self.place = np.zeros(1)

    def step(self, action):
        self.place += 1
        return self.place.copy(), 0.0, False, False, {}


def test_a_snapshot_that_restores_leaves_the_environment_as_it_was():
    env, _ = cart_pole()
    before = save(env)[0]
    problem = GymProblem(env, snapshot=(save, restore))
    tt.Search(problem, seed=1).run(tt.Limit(simulations=20))
    assert np.array_equal(save(env)[0], before)


@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1", "CliffWalking-v1", "MountainCar-v0"])
def test_a_finished_episode_is_refused(name):
    env = gymnasium.make(name, **({"max_episode_steps": 4} if name == "MountainCar-v0" else {}))
    env.reset(seed=1)
    best = GymPolicy(tt.Limit(simulations=10), seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, _ = env.step(0 if name in ("CartPole-v1", "FrozenLake-v1") else best(env))
        over = terminated or truncated
    with pytest.raises(TerminalPositionError, match="is over: reset it"):
        best(env)
    env.reset(seed=1)
    assert best(env) in range(4)


def test_a_policy_names_the_config_that_it_uses():
    assert "puct() with a table, else uct()" in repr(GymPolicy())
    assert "default" not in repr(GymPolicy())
    assert "c=3" in repr(GymPolicy(config=tt.uct(c=3.0)))


@pytest.mark.parametrize("config", [None, tt.puct(), tt.gumbel()])
@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1", "Blackjack-v1"])
def test_the_training_target_is_a_dictionary_of_the_actions(name, config):
    env = gymnasium.make(name)
    env.reset(seed=1)
    policy = GymPolicy(tt.Limit(simulations=20), config, seed=1)
    policy(env)
    target = policy.last_result.target()
    assert set(target) == set(range(env.action_space.n))
    assert sum(target.values()) == pytest.approx(1.0)
