"""With immediate rewards the `reward_range` bounds their sum, together with the final reward."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.search.own_problems import Gamble, Tour


class Metered(Tour):
    """Immediate rewards of minus the distance, doubled: from -6 to -14 in all, with -1 at the end."""

    step_rewards = True
    factor = 2.0

    def step(self, state, action):
        return super().step(state, action), -self.factor * abs(state[0] - action)


def flat(state, actions):
    return None, 0.0


@pytest.mark.parametrize("config", [tt.uct(), tt.uct(discount=0.5), tt.uct(solver=False, max_nodes=40)])
@pytest.mark.parametrize("evaluator", [None, flat])
def test_totals_outside_of_the_range_are_an_error(config, evaluator):
    problem = Metered()
    problem.reward_range = (-10.0, 0.0)
    with pytest.raises(tt.errors.GameError, match=r"add up to \[-1\d\.0\], outside of its reward_range \(-10.0, 0.0\)"):
        tt.Search(problem, config, evaluator=evaluator, seed=1).run(tt.Limit(simulations=200))


def test_totals_within_the_range_are_none_though_values_are_lower_than_their_parts():
    problem = Metered()
    problem.reward_range = (-13.0, -7.0)
    search = tt.Search(problem, seed=1)
    assert search.run(tt.Limit(simulations=200)).best.total_reward == -7.0
    search.advance(1)  # what was received counts on
    assert search.run(tt.Limit(simulations=50)).best.total_reward == -5.0


def test_the_rewards_of_played_actions_count():
    problem = Metered()
    problem.reward_range = (-13.0, 0.0)
    search = tt.Search(problem, seed=1)
    search.advance(3)
    problem.factor = 5.0
    with pytest.raises(tt.errors.GameError, match=r"add up to \[-2\d\.0\]"):
        search.run(tt.Limit(simulations=50))


def test_from_another_root_the_rest_may_be_any_difference_of_two_totals():
    problem = Metered()
    problem.reward_range = (-13.0, -7.0)
    assert tt.Search(problem, root=(1, (2,)), seed=1).run(tt.Limit(simulations=10)).value == -3.0
    problem.factor = 6.0
    with pytest.raises(tt.errors.GameError, match="add up to"):
        tt.Search(problem, root=(1, (2,)), seed=1).run(tt.Limit(simulations=10))


def test_totals_of_two_players_must_sum_to_zero_in_a_zero_sum_problem():
    class Shared(Metered):
        num_players, reward_range = 2, (-20.0, 20.0)

        def step(self, state, action):
            return Tour.step(self, state, action), (1.0, 1.0)

        def rewards(self, state):
            return (0.0, 0.0)

    with pytest.raises(tt.errors.GameError, match="do not sum to zero: set zero_sum = False"):
        tt.Search(Shared(), seed=1).run(tt.Limit(simulations=10))
    Shared.zero_sum = False
    assert tt.Search(Shared(), seed=1).run(tt.Limit(simulations=10)).values == [3.0, 3.0]


@pytest.mark.parametrize("evaluator", [None, flat])
def test_rewards_of_chance_count(evaluator):
    class Paid(Gamble):
        step_rewards = True

        def step(self, state, action):
            return super().step(state, action), 0.5 if action in ("heads", "tails") else 0.0

    with pytest.raises(tt.errors.GameError, match=r"add up to \[1.5\]"):
        tt.Search(Paid(), evaluator=evaluator, seed=1).run(tt.Limit(simulations=100))


def test_remote_searches_check_totals_too():
    problem = Metered()
    problem.reward_range = (-10.0, 0.0)
    with pytest.raises(tt.errors.GameError, match="add up to"):
        tt.Search(problem, tt.puct(), seed=1).run_remote(tt.Limit(simulations=200), flat)
