"""Chance that comes from outside of NumPy's and Python's generators is found where it shows, and PyTorch's is guarded."""

from __future__ import annotations

import random
import sys
import types

import gymnasium
import numpy as np
import pytest

import treetop as tt
from treetop.adapters import GymPolicy, GymProblem, RandomStepError

SYSTEM = random.SystemRandom()


def fake_torch():
    """A module with the few functions of PyTorch that are needed, over a generator of NumPy."""

    class Tensor:
        def __init__(self, array):
            self.array = array

        def numpy(self):
            return self.array

    torch, generator = types.ModuleType("torch"), np.random.RandomState(0)
    torch.default_generator = types.SimpleNamespace(manual_seed=lambda seed: generator.seed(seed % 2**32))
    torch.manual_seed = torch.default_generator.manual_seed

    def get_rng_state():
        kind, keys, place, *_ = generator.get_state()
        assert kind == "MT19937"
        return Tensor(np.append(keys, np.uint32(place)))

    torch.get_rng_state = get_rng_state
    torch.set_rng_state = lambda state: generator.set_state(("MT19937", state.array[:-1], int(state.array[-1])))
    torch.rand = lambda count: np.array([generator.rand() for _ in range(count)])
    return torch


@pytest.fixture(params=["fake", "real"])
def torch(request, monkeypatch):
    """PyTorch, or a stand-in."""
    if request.param == "real":
        return pytest.importorskip("torch")
    stand_in = fake_torch()
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    return stand_in


class Dice(gymnasium.Env):
    """Guess whether a die shows less than 0.5, from some source; for `late` steps nothing is thrown."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,))

    def __init__(self, throw, late=0):
        self.throw, self.late, self.time = throw, late, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return np.zeros(1), {}

    def step(self, action):
        self.time += 1
        thrown = self.throw() if self.time > self.late else 0.0
        return np.array([thrown]), float((thrown < 0.5) == (action == 0)), self.time > self.late, False, {}


def start(throw, late=0):
    env = Dice(throw, late)
    env.reset(seed=1)
    return env


def test_chance_of_the_operating_system_is_found_by_comparing_steps():
    env = start(lambda: SYSTEM.random())
    policy = GymPolicy(tt.Limit(simulations=400), tt.uct(c=2.0), seed=1)
    assert policy(env) in (0, 1)
    assert policy.last_result.state == ()  # open loop
    assert np.allclose(policy.last_result.means, 0.5, atol=0.15)
    problem = GymProblem(env, stochastic=False)
    with pytest.raises(RandomStepError, match=r"from the same state gave .* and then .*pass stochastic=True"):
        problem.step(problem.initial(), 1)


def test_the_generator_of_pytorch_is_guarded_and_its_chance_found(torch):
    env = start(lambda: float(torch.rand(1)[0]))
    torch.manual_seed(5)
    expected = [float(number) for number in torch.rand(3)]
    torch.manual_seed(5)
    policy = GymPolicy(tt.Limit(simulations=400), tt.uct(c=2.0), seed=1)
    policy(env)
    assert policy.last_result.state == ()
    assert np.allclose(policy.last_result.means, 0.5, atol=0.15)
    with pytest.raises(RandomStepError):
        tt.Search(GymProblem(env, stochastic=False), seed=1).run(tt.Limit(simulations=20))
    assert [float(number) for number in torch.rand(3)] == expected


def test_a_search_of_pytorch_s_chance_repeats_by_its_seed(torch):
    visits = []
    for outside in (1, 2):
        torch.manual_seed(outside)
        env = start(lambda: float(torch.rand(1)[0]))
        visits.append(tt.Search(GymProblem(env), seed=3).run(tt.Limit(simulations=100)).visits)
    assert visits[0] == visits[1]


@pytest.mark.parametrize("stochastic", [None, True])
def test_chance_of_the_program_that_shows_late_is_found_and_restored(stochastic):
    env = start(lambda: random.random(), late=18)
    random.seed(7)
    expected = random.random()
    random.seed(7)
    policy = GymPolicy(tt.Limit(simulations=60), seed=1, stochastic=stochastic)
    policy(env)
    assert policy.last_result.state == ()
    assert random.random() == expected


def test_a_snapshot_of_an_environment_with_chance_that_nothing_seeds_is_accepted():
    env = start(lambda: SYSTEM.random())
    hooks = (lambda env: env.unwrapped.time, lambda env, token: setattr(env.unwrapped, "time", token))
    for stochastic in (None, True):
        assert GymProblem(env, snapshot=hooks, stochastic=stochastic).initial() == ()


@pytest.mark.parametrize("throw", [SYSTEM.random, random.random])
def test_pettingzoo_finds_it_too(throw):
    pytest.importorskip("pettingzoo")
    from pettingzoo.classic.tictactoe import tictactoe

    from treetop.adapters import PettingZooProblem

    class Loaded(tictactoe.raw_env):
        def step(self, action):
            super().step(action)
            self.rewards = dict.fromkeys(self.agents, throw())

    env = Loaded()
    env.reset(seed=1)
    with pytest.raises(RandomStepError, match="this adapter cannot search chance"):
        tt.Search(PettingZooProblem(env), seed=1).run(tt.Limit(simulations=20))
