"""What failed is unknown, not absent: no proof rests on it. And a rollout that fails costs that rollout only."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.search.holes import check_one
from tests.search.own_problems import Nim


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_what_is_proven_holds_for_every_value_of_what_failed(start):
    assert len({check_one(seed) for seed in range(start, start + 50)}) > 2


class OneReplyFails(Nim):
    """Four stones are left to the opponent, who loses by every reply; one of the replies raises."""

    broken = True

    def step(self, state, action):
        if self.broken and state[0] == 4 and action == 1:
            raise RuntimeError("no answer")
        return super().step(state, action)


def guess(state, actions):
    return None, 0.0


def test_a_win_is_not_proven_while_a_reply_of_the_opponents_has_failed():
    result = tt.Search(OneReplyFails(5), tt.uct(solver=True), evaluator=guess, seed=1).run(tt.Limit(simulations=300))
    assert result.proof is None
    assert result.stopped != "solved"
    assert result.action == 0  # all that is known speaks for it


def test_a_search_ends_where_every_action_is_proven_or_has_failed():
    class OneIsLeft(Nim):
        def step(self, state, action):
            if state[0] == 2 and action == 0:
                raise RuntimeError("no answer")
            return super().step(state, action)

        def rewards(self, state):
            return (0, 0)

    search = tt.Search(OneIsLeft(2), tt.uct(solver=True), evaluator=guess, seed=1)
    result = search.run(tt.Limit(simulations=300))
    assert result.proof is None
    assert result.stopped == "every action is proven or has failed"
    assert result.action == 1
    assert result.simulations < 300
    assert "failed" in str(result.explain())
    assert result.json()


def test_a_failed_action_is_never_the_one_to_play():
    class Trap(Nim):
        def step(self, state, action):
            if state[0] == 7:
                raise RuntimeError("no answer")
            return super().step(state, action)

    def flattering(state, actions):
        return None, -0.9 if state[0] == 7 else 0.5

    for config in (
        tt.uct(),
        tt.uct(solver=True),
        tt.puct(c=0.1),
        tt.uct(final="value"),
        tt.uct(final="lcb"),
        tt.uct(final="temperature"),
    ):
        result = tt.Search(Trap(8), config.with_options(expand_after=9), evaluator=flattering, seed=1).run(
            tt.Limit(simulations=30)
        )
        assert result.visits[0] in (9, 10)
        assert result.failed.tolist() == [True, False, False]
        assert result.action != 0
        assert result.policy()[0] > 0  # the visits were made


class Flimsy(Nim):
    """One step in five fails, by chance."""

    def __init__(self, heap=12, share=0.2):
        super().__init__(heap)
        self.rng, self.share = tt.Rng(7), share

    def step(self, state, action):
        if state[0] < 10 and self.rng.random() < self.share:
            raise RuntimeError("broken off")
        return super().step(state, action)


def test_a_rollout_that_fails_costs_that_rollout_only():
    class Late(Nim):
        """What is wrong lies far below the root, and many rollouts come to it."""

        def step(self, state, action):
            if state[0] == 2 and action == 1:
                raise RuntimeError("too late")
            return super().step(state, action)

    search = tt.Search(Late(21), seed=1)
    result = search.run(tt.Limit(simulations=200))
    search.tree.check((-1, 1))
    assert result.simulations == 200
    assert not result.failed.any()
    failed = [failure for failure in result.failures if not failure.ends_node]
    assert failed
    assert all("too late" in failure.reason and "rollout" in failure.reason for failure in failed)
    assert result.failed_rollouts >= len(failed)
    assert "rollouts that failed" in str(result)


@pytest.mark.parametrize(
    "config",
    [
        tt.uct(),
        tt.uct(solver=True),
        tt.gumbel(),
        tt.rules.halving(),
        tt.uct(fpu="parent"),
        tt.uct(max_nodes=30),
        tt.uct(max_depth=2),
    ],
)
@pytest.mark.parametrize("count", [1, 3])
def test_a_problem_of_which_most_rollouts_fail_is_searched(config, count):
    search = tt.Search(Flimsy(12, 0.5), config, evaluator=tt.Rollout(count=count), seed=3)
    try:
        result = search.run(tt.Limit(simulations=100))
    except tt.errors.SearchError as error:
        assert "root itself failed" in str(error)  # every one of its actions  # noqa: PT017
    else:
        assert result.failed_rollouts > 0
    search.tree.check((-1, 1))


def test_an_own_rollout_that_fails_now_and_then_costs_no_node():
    class Own(Nim):
        calls = 0

        def rollout(self, state, rng):
            Own.calls += 1
            if Own.calls % 3 == 0 or Own.calls < 3:
                raise RuntimeError("no luck")
            return (0.5, -0.5)

    result = tt.Search(Own(), seed=1).run(tt.Limit(simulations=50))
    assert result.simulations == 50
    assert not any(failure.ends_node for failure in result.failures)


def test_rollouts_that_all_fail_are_an_error_soon():
    class Endless(Nim):
        def rollout(self, state, rng):
            raise RuntimeError("always")

    with pytest.raises(tt.errors.SearchError, match=r"rollouts in a row failed.*always"):
        tt.Search(Endless(10**6), seed=1).run(tt.Limit(simulations=10))


def test_an_outcome_of_chance_that_fails_costs_that_draw_only():
    class Coin:
        """The first coin has one good side in four."""

        def initial(self):
            return ()

        def player(self, state):
            return tt.CHANCE if len(state) == 1 else 0

        def actions(self, state):
            return ["throw", "leave"]

        def outcomes(self, state):
            return [(side, 0.25) for side in "abcd"]

        def step(self, state, action):
            if action in ("b", "c", "d"):
                raise RuntimeError("it rolled away")
            return (*state, action)

        def is_terminal(self, state):
            return len(state) == 3

        def rewards(self, state):
            return 1.0

    def evaluate(state, actions):
        return None, 0.5

    result = tt.Search(Coin(), tt.puct(c=1.0), evaluator=evaluate, seed=1).run(tt.Limit(simulations=100))
    assert not result.failed.any()


def test_advancing_into_a_failed_action_tries_it_again():
    problem = OneReplyFails(5)
    search = tt.Search(problem, evaluator=guess, seed=1)
    search.run(tt.Limit(simulations=200))
    search.advance(0)
    assert search.result().failed.tolist() == [False, True, False]
    problem.broken = False
    search.advance(1)
    assert search.run(tt.Limit(simulations=5)).simulations == 5
