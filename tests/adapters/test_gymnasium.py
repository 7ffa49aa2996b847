"""Gymnasium's environments, searched: what the search may know, and that it solves the small ones."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest

import treetop as tt
from treetop.adapters import GymPolicy, GymProblem, RandomStepError
from treetop.adapters.randomness import Program
from treetop.errors import ConfigError

gymnasium = pytest.importorskip("gymnasium")


def play(env, policy, seeds):
    returns = []
    for seed in seeds:
        env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            _, reward, terminated, truncated, _ = env.step(policy(env))
            total += float(reward)
            over = terminated or truncated
        returns.append(total)
    return returns


class Coin(gymnasium.Env):
    """Call a coin before it falls, or pass for a sure 0.1. Nobody can know how it will fall, except by the generator's next number."""

    action_space = gymnasium.spaces.Discrete(3)
    observation_space = gymnasium.spaces.Discrete(1)
    draws = "np_random"

    def __init__(self, draws="np_random"):
        self.draws, self.nested = draws, {"deep": [random.Random(5)], "old": np.random.RandomState(5)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def toss(self):
        if self.draws == "np_random":
            return int(self.np_random.integers(2))
        if self.draws == "nested":
            return self.nested["deep"][0].randrange(2)
        if self.draws == "old":
            return int(self.nested["old"].randint(2))
        return random.randrange(2) if self.draws == "random" else int(np.random.randint(2))  # noqa: NPY002 - what environments of old do

    def step(self, action):
        if action == 2:
            self.toss()
            return 0, 0.1, True, False, {}
        return 0, (1.0 if self.toss() == action else -1.0), True, False, {}


SOURCES = ("np_random", "nested", "old", "random", "numpy")


@pytest.mark.parametrize("draws", SOURCES)
def test_the_search_cannot_see_what_the_environment_will_draw(draws):
    """Were the next number known, calling it would be worth 1; as it is, both calls are worth nothing and passing is best."""
    env = Coin(draws)
    for seed in range(3):
        env.reset(seed=seed)
        result = tt.Search(GymProblem(env), tt.uct(c=4.0), seed=seed).run(tt.Limit(simulations=1500))
        assert np.allclose(result.means, [0.0, 0.0, 0.1], atol=0.15)


@pytest.mark.parametrize("draws", SOURCES)
def test_a_search_changes_nothing_of_the_environment(draws):
    env = Coin(draws)
    env.reset(seed=4)
    random.seed(9)
    np.random.seed(9)  # noqa: NPY002
    expected = copy.deepcopy(env).toss()
    random.seed(9)
    np.random.seed(9)  # noqa: NPY002
    before = Program().digest
    GymPolicy(tt.Limit(simulations=50), seed=1)(env)
    assert Program().digest == before
    assert env.toss() == expected


def test_the_same_seed_gives_the_same_search_whatever_the_environment_s_seed():
    found = []
    for seed in (1, 2):
        env = Coin()
        env.reset(seed=seed)
        found.append(tt.Search(GymProblem(env), seed=3).run(tt.Limit(simulations=200)).visits)
    assert found[0] == found[1]


class LateCoin(Coin):
    """Certain for twenty steps, then a coin."""

    def reset(self, *, seed=None, options=None):
        self.time = 0
        return super().reset(seed=seed)

    def step(self, action):
        self.time += 1
        return (0, 0.0, False, False, {}) if self.time < 20 else super().step(action)


def test_chance_that_shows_late_is_reported_and_a_policy_goes_on_with_it():
    env = LateCoin()
    env.reset(seed=1)
    env.time = 3
    problem = GymProblem(env, stochastic=False)
    with pytest.raises(RandomStepError, match="stochastic=True"):
        tt.Search(problem, seed=1).run(tt.Limit(simulations=100))
    env.time = 0
    policy = GymPolicy(tt.Limit(simulations=50), seed=1)
    assert policy(env) in (0, 1, 2)
    assert policy.last_result.state == ()
    with pytest.raises(RandomStepError):
        GymPolicy(tt.Limit(simulations=50), seed=1, stochastic=False)(env)


def frozen_lake(**options):
    return gymnasium.make("FrozenLake-v1", **options)


def test_a_table_is_searched_by_its_exact_outcomes():
    env = frozen_lake()
    env.reset(seed=1)
    problem = GymProblem(env)
    after, received = problem.step(problem.initial(), 1)
    assert problem.player(after) == tt.CHANCE
    assert sorted(probability for _, probability in problem.outcomes(after)) == pytest.approx([1 / 3] * 3)
    assert received == 0.0
    certain = frozen_lake(is_slippery=False)
    certain.reset(seed=1)
    assert not hasattr(GymProblem(certain), "outcomes")


def test_the_value_of_the_slippery_lake_is_the_known_one():
    """Within 100 steps the best policy reaches the goal in 74 of 100 cases."""
    env = frozen_lake()
    env.reset(seed=1)
    assert GymProblem(env).evaluate((0, 0, False), range(4))[1] == pytest.approx(0.74, abs=0.01)
    policy = GymPolicy(tt.Limit(simulations=100), seed=1)
    policy(env)
    assert policy.last_result.value == pytest.approx(0.74, abs=0.05)


@pytest.mark.slow
def test_the_slippery_lake_is_crossed_as_often_as_can_be():
    """0.74 is the best; of 40 episodes at least 0.74 less two and a half standard errors."""
    assert np.mean(play(frozen_lake(), GymPolicy(tt.Limit(simulations=30), seed=1), range(40))) >= 0.57


def test_a_lake_without_slipping_is_crossed_by_rollouts_too():
    env = frozen_lake(is_slippery=False)
    assert play(env, GymPolicy(tt.Limit(simulations=600), seed=1, evaluator=tt.Rollout(), discount=0.95), range(2)) == [
        1.0,
        1.0,
    ]


def test_taxi_is_driven_the_shortest_way():
    env = gymnasium.make("Taxi-v4")
    returns = play(env, GymPolicy(tt.Limit(simulations=30), seed=1), range(8))
    best = []
    for seed in range(8):
        env.reset(seed=seed)
        best.append(GymProblem(env, horizon=200).evaluate((int(env.unwrapped.s), 0, False), range(6))[1])
    assert returns == pytest.approx(best)
    assert np.mean(returns) >= 5


def test_a_taxi_whose_passengers_change_their_mind_is_not_searched_by_its_table():
    env = gymnasium.make("Taxi-v4", fickle_passenger=True)
    env.reset(seed=1)
    assert not hasattr(GymProblem(env, stochastic=True), "evaluate")
    with pytest.raises(ConfigError, match="no complete table"):
        GymProblem(env, table=True)


def test_the_cliff_is_passed_by():
    env = gymnasium.make("CliffWalking-v1")
    assert play(env, GymPolicy(tt.Limit(simulations=30), seed=1), [1]) == [-13.0]


@pytest.mark.slow
def test_the_pole_stays_up():
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=1)
    for _ in range(120):  # the whole 500 steps are in bench/gymnasium.py
        _, _, terminated, _, _ = env.step(policy_for_poles(env))
        assert not terminated


policy_for_poles = GymPolicy(tt.Limit(simulations=60), seed=1)


def test_the_pole_s_own_rewards_are_counted():
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=1)
    result = tt.Search(GymProblem(env, horizon=5, discount=0.5), seed=1).run(tt.Limit(simulations=50))
    assert result.value == pytest.approx(1 + 1 / 2 + 1 / 4 + 1 / 8 + 1 / 16)


def test_a_time_limit_ends_the_search_as_it_ends_the_episode():
    env = gymnasium.make("CartPole-v1", max_episode_steps=3)
    env.reset(seed=1)
    assert GymProblem(env).horizon == 3
    env.step(0)
    assert GymProblem(env).horizon == 2
    assert tt.Search(GymProblem(env, discount=1.0), seed=1).run(tt.Limit(simulations=30)).value == pytest.approx(2.0)


def test_blackjack_does_not_know_the_dealer_s_second_card():
    """With 20 in hand against a 10 it sticks, and thinks the same of it whatever lies face down."""
    env = gymnasium.make("Blackjack-v1")
    env.reset(seed=1)
    inner, results = env.unwrapped, []
    for hidden in (1, 6):
        inner.player, inner.dealer = [10, 10], [10, hidden]
        policy = GymPolicy(tt.Limit(simulations=400), seed=1)
        assert policy(env) == 0
        assert inner.dealer == [10, hidden]
        results.append(policy.last_result.means.tolist())
    assert results[0] == results[1]
    assert results[0][0] == pytest.approx(0.44, abs=0.15)


def test_blackjack_is_played():
    returns = play(gymnasium.make("Blackjack-v1"), GymPolicy(tt.Limit(simulations=60), seed=1), range(40))
    assert set(returns) <= {-1.0, 0.0, 1.0, 1.5}
    assert -0.45 < np.mean(returns) < 0.35


def test_functions_of_the_caller_take_the_snapshots():
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=1)
    inner = env.unwrapped
    before = np.array(inner.state)
    hooks = (lambda env: (np.array(env.unwrapped.state), env.unwrapped.steps_beyond_terminated), restore_pole)
    kinds = [
        tt.Search(GymProblem(env, horizon=20, snapshot=snapshot), seed=1).run(tt.Limit(simulations=40)).visits
        for snapshot in (None, hooks)
    ]
    assert kinds[0] == kinds[1]
    assert np.array_equal(np.array(inner.state), before)


def restore_pole(env, token):
    env.unwrapped.state, env.unwrapped.steps_beyond_terminated = np.array(token[0]), token[1]


def test_wrappers_that_change_rewards_or_actions_are_searched_with_the_rest():
    class Twice(gymnasium.RewardWrapper):
        def reward(self, reward):
            return 2 * reward

    env = Twice(gymnasium.make("CartPole-v1"))
    env.reset(seed=1)
    assert tt.Search(GymProblem(env, horizon=4, discount=1.0), seed=1).run(
        tt.Limit(simulations=30)
    ).value == pytest.approx(8.0)
    lake = Twice(frozen_lake())
    lake.reset(seed=1)
    assert not hasattr(GymProblem(lake), "evaluate")


class Remade(Coin, gymnasium.utils.EzPickle):
    """Asks to be made anew where it is copied, as many environments do."""

    def __init__(self):
        gymnasium.utils.EzPickle.__init__(self)
        super().__init__()
        self.score = 0

    def step(self, action):
        return 0, float(self.score), True, False, {}


def test_a_copy_stands_where_the_environment_stands_whatever_it_says_about_copying():
    for env in (Remade(), gymnasium.wrappers.TransformReward(Remade(), lambda reward: reward)):
        env.reset(seed=1)
        env.unwrapped.score = 7
        assert tt.Search(GymProblem(env), seed=1).run(tt.Limit(simulations=10)).value == 7.0


class Uncopied(Coin):
    """Holds what cannot be copied."""

    def __init__(self):
        super().__init__()
        self.world = open(__file__)  # noqa: SIM115, PTH123


def test_what_cannot_be_copied_is_reported():
    env = Uncopied()
    env.reset(seed=1)
    with pytest.raises(ConfigError, match="Uncopied.world cannot be copied"):
        GymProblem(env)
    env.world.close()


def test_an_environment_with_a_window_is_searched_without_one():
    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=1)
    env.render()
    assert GymPolicy(tt.Limit(simulations=20), seed=1)(env) in (0, 1)
    env.close()


class Unready(Coin):
    """It may be stepped only after `reset`, and says nothing of that itself."""

    def reset(self, *, seed=None, options=None):
        self.where = 0
        return super().reset(seed=seed)

    def step(self, action):
        return self.where, 0.0, False


def test_a_step_that_fails_or_returns_another_number_of_values_is_explained():
    env = Unready()
    with pytest.raises(ConfigError, match=r"a step of Unready failed: AttributeError.*where.*call its reset first"):
        GymProblem(env)
    env.reset(seed=1)
    with pytest.raises(ConfigError, match=r"Unready.step must return \(observation, .*info\), not 3 values"):
        GymProblem(env)


@pytest.mark.parametrize(("make", "text"), [
    (lambda: GymProblem("CartPole-v1"), "env must be a Gymnasium environment"), (lambda: GymProblem(gymnasium.make("Pendulum-v1")), "must be Discrete"),
    (lambda: GymProblem(frozen_lake(), horizon=0), "horizon"), (lambda: GymProblem(frozen_lake(), discount=0.0), "discount"),
    (lambda: GymProblem(frozen_lake(), snapshot=5), "pair of functions"), (lambda: GymProblem(frozen_lake()), "was not reset"),
])  # fmt: skip
def test_what_cannot_be_searched_is_reported(make, text):
    with pytest.raises(ConfigError, match=text):
        make()
