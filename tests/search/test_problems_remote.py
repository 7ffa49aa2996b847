"""Evaluations made elsewhere: many in flight, deadlines, second attempts, budgets, cancellation."""

from __future__ import annotations

import asyncio
import math
import signal
import time

import pytest

import treetop as tt
from tests.search.own_problems import Gamble, Nim
from tests.search.remote_evaluators import assert_at_rest, at_once, jittery, worth


def test_a_coroutine_evaluates_and_the_search_is_made():
    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
    result = asyncio.run(search.arun(tt.Limit(simulations=100), at_once, in_flight=8))
    assert_at_rest(search)
    assert result.simulations == 100
    assert result.calls == 100
    assert result.stopped == "the limit was reached"
    assert sum(result.visits.values()) == 99


def test_one_in_flight_is_the_search_that_waits():
    here = tt.Search(Nim(), tt.puct(c=1.5), evaluator=lambda state, actions: (None, worth(state)), seed=1).run(
        tt.Limit(simulations=150)
    )
    elsewhere = tt.Search(Nim(), tt.puct(c=1.5), seed=1).run_remote(tt.Limit(simulations=150), at_once, in_flight=1)
    assert elsewhere.visits == here.visits
    assert elsewhere.value == here.value


def test_many_in_flight_take_far_less_time():
    async def slow(state, actions):
        await asyncio.sleep(0.02)
        return None, worth(state)

    rates = {}
    for width, calls in ((1, 10), (32, 320)):
        search = tt.Search(Nim(200), tt.puct(c=1.5), seed=1)
        search.run_remote(tt.Limit(simulations=1), at_once)  # compiled, or loaded
        result = search.run_remote(tt.Limit(calls=calls), slow, in_flight=width)
        assert_at_rest(search)
        rates[width] = result.calls / result.elapsed
    assert rates[32] > 8 * rates[1]  # bench/host.py has the true figure; a busy machine must not fail a test


def test_plain_functions_run_in_threads():
    at_the_same_time = []
    inside = 0

    def evaluate(state, actions):
        nonlocal inside
        inside += 1
        at_the_same_time.append(inside)
        time.sleep(0.01)
        inside -= 1
        return None, worth(state)

    search = tt.Search(Nim(), tt.puct(c=1.5), evaluator=evaluate, seed=1)
    result = search.run_remote(tt.Limit(simulations=60), in_flight=8)
    assert_at_rest(search)
    assert result.simulations == 60
    assert max(at_the_same_time) > 2


def test_plain_functions_run_in_processes(tmp_path):
    (tmp_path / "elsewhere.py").write_text(
        "import os, time\n"
        "def evaluate(state, actions):\n"
        "    if state[0] == 20:\n"
        "        time.sleep(60)\n"
        "    if state[0] == 19:\n"
        "        os._exit(3)\n"
        "    return None, 0.5 if state[0] % 4 else -0.5, 0.25\n"
    )
    import sys

    sys.path.insert(0, str(tmp_path))
    try:
        import elsewhere

        search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
        result = search.run_remote(tt.Limit(simulations=40), elsewhere.evaluate, in_flight=4, processes=2, timeout=3.0)
    finally:
        sys.path.remove(str(tmp_path))
    assert_at_rest(search)
    assert result.simulations == 40
    reasons = {failure.path: failure.reason for failure in result.failures}
    assert "longer than 3 s" in reasons[(0,)]
    assert "3" in reasons[(1,)]
    assert result.visits[2] == 39


def test_a_call_that_takes_too_long_ends_its_node():
    async def evaluate(state, actions):
        if state[0] == 20:
            await asyncio.sleep(30)
        return None, worth(state)

    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=60), evaluate, timeout=0.05)
    assert_at_rest(search)
    assert result.simulations == 60
    assert result.visits[0] == 0
    assert result.failures == (tt.results.Failure((0,), "its evaluation failed: it took longer than 0.05 s"),)


def test_a_thread_that_hangs_is_left_behind():
    def evaluate(state, actions):
        if state[0] == 20:
            time.sleep(1.0)
        return None, worth(state)

    search = tt.Search(Nim(), tt.puct(c=1.5), evaluator=evaluate, seed=1)
    result = search.run_remote(tt.Limit(simulations=40), timeout=0.05)
    assert_at_rest(search)
    assert result.elapsed < 0.9
    assert len(result.failures) == 1


def test_a_call_that_fails_is_tried_again_with_longer_and_longer_pauses():
    times = []

    async def evaluate(state, actions):
        if state[0] == 20:
            times.append(asyncio.get_running_loop().time())
            if len(times) < 3:
                raise ConnectionError("the line is busy")
        return None, worth(state)

    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=60), evaluate, retries=2, backoff=0.03)
    assert not result.failures
    assert result.visits[0] > 0
    assert times[1] - times[0] >= 0.03
    assert times[2] - times[1] >= 0.06
    assert result.calls == 62


@pytest.mark.parametrize(
    "answer", [(None, math.nan), ([math.nan, 1, 1], 0.0), "nonsense", (None, 0.0, -3), (None, 0.0, math.inf)]
)
def test_an_answer_that_is_none_counts_as_a_failure(answer):
    async def evaluate(state, actions):
        return answer if state[0] == 20 else (None, worth(state))

    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=60), evaluate, retries=1, backoff=0.0)
    assert_at_rest(search)
    assert result.visits[0] == 0
    assert "Error: " in result.failures[0].reason
    assert "the last of 2 attempts" in result.failures[0].reason


def test_a_root_that_cannot_be_evaluated_is_an_error():
    async def evaluate(state, actions):
        raise OSError("no such host")

    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
    with pytest.raises(tt.errors.SearchError, match="no such host"):
        search.run_remote(tt.Limit(simulations=10), evaluate, retries=1, backoff=0.0)
    assert search.in_flight == 0


def test_budgets_in_calls_cost_seconds_and_nodes():
    for limit, check in (
        (tt.Limit(calls=50), lambda result, search: result.calls == 50),
        (tt.Limit(cost=100), lambda result, search: 100 <= result.cost <= 100 + 3 * 16),
        (tt.Limit(simulations=70), lambda result, search: result.simulations == 70),
        (tt.Limit(seconds=0.15), lambda result, search: 0.14 < result.elapsed < 2 and result.simulations > 3),
        (tt.Limit(nodes=200), lambda result, search: 200 <= search.tree.size < 350),
    ):
        search = tt.Search(Nim(60), tt.puct(c=1.5), seed=1)
        search.run_remote(tt.Limit(simulations=1), at_once)
        result = search.run_remote(limit, jittery(1, cost=3.0), in_flight=16)
        assert_at_rest(search)
        assert check(result, search), (str(limit), result.calls, result.cost, result.simulations, search.tree.size)
        assert result.stopped == "the limit was reached"


def test_when_time_is_over_nothing_stays_in_flight():
    cancelled = []

    async def evaluate(state, actions):
        try:
            await asyncio.sleep(0.0 if state[0] > 20 else 60)
        except asyncio.CancelledError:
            cancelled.append(state)
            raise
        return None, worth(state)

    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(seconds=0.2), evaluate)
    assert_at_rest(search)
    assert result.simulations == 1
    assert len(cancelled) == 3
    assert search.run_remote(tt.Limit(simulations=20), at_once).simulations == 20


def test_a_task_that_is_cancelled_leaves_the_tree_at_rest():
    async def slow(state, actions):
        await asyncio.sleep(0.005 if state[0] > 15 else 60)
        return None, worth(state)

    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)

    async def main():
        task = asyncio.create_task(search.arun(tt.Limit(simulations=1000), slow))
        await asyncio.sleep(0.1)
        assert search.in_flight > 0
        with pytest.raises(tt.errors.SearchError, match="cannot advance during `arun`"):
            search.advance(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    search.run_remote(tt.Limit(simulations=1), at_once)
    asyncio.run(main())
    assert_at_rest(search)
    assert search.result().simulations > 0


def test_ctrl_c_ends_it_with_the_result_so_far():
    calls = 0

    async def evaluate(state, actions):
        nonlocal calls
        calls += 1
        if calls == 20:
            signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.001 if calls < 20 else 60)
        return None, worth(state)

    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=1000), evaluate)
    assert_at_rest(search)
    assert result.interrupted
    assert 0 < result.simulations < 40
    assert search.run_remote(tt.Limit(simulations=5), at_once).simulations == 5


def test_a_tree_without_open_leaves_ends_by_itself():
    search = tt.Search(Gamble(), tt.puct(c=1.0), seed=1)

    async def evaluate(state, actions):
        return None, 0.0

    result = search.run_remote(tt.Limit(calls=50), evaluate)
    search.tree.check()
    assert result.stopped == "nothing is left to evaluate"
    assert result.action == "throw"


def test_the_solver_ends_a_remote_search_too():
    search = tt.Search(Nim(6), tt.puct(c=1.5, solver=True), seed=1)
    result = search.run_remote(tt.Limit(simulations=10_000), at_once)
    assert_at_rest(search)
    assert result.proof is not None
    assert result.proof.value == 1
    assert result.stopped == "solved"


def test_rollouts_here_and_evaluations_elsewhere_share_a_tree():
    search = tt.Search(Nim(), tt.uct(), seed=1)
    search.run(tt.Limit(simulations=100))
    result = search.run_remote(tt.Limit(simulations=100), at_once)
    assert_at_rest(search)
    assert search.run(tt.Limit(simulations=100)).simulations == 100
    assert search.simulations == 300
    assert result.calls > 0


@pytest.mark.parametrize(
    "options",
    [
        {"in_flight": 0},
        {"retries": -1},
        {"timeout": 0},
        {"backoff": -1},
        {"processes": 2},
        {"record": "a", "replay": "b"},
    ],
)
def test_options_that_do_not_fit_are_refused(options):
    with pytest.raises(tt.errors.ConfigError):
        tt.Search(Nim(), tt.puct(c=1.0)).run_remote(tt.Limit(simulations=5), at_once, **options)


def test_progress_is_reported_on_the_way():
    reported = []
    search = tt.Search(Nim(60), tt.puct(c=1.5), seed=1)
    search.run_remote(tt.Limit(seconds=0.5), jittery(1), in_flight=4, progress=reported.append)
    assert reported
    assert 0 < reported[0].simulations <= reported[-1].simulations


def test_what_cannot_run_elsewhere_is_refused():
    with pytest.raises(tt.errors.ConfigError, match="give evaluate"):
        tt.Search(Nim()).run_remote(tt.Limit(simulations=5))
    with pytest.raises(tt.errors.ConfigError, match="max_nodes"):
        tt.Search(Nim(), tt.puct(c=1.0, max_nodes=100)).run_remote(tt.Limit(simulations=5), at_once)
    with pytest.raises(tt.errors.ConfigError, match="arun or run_remote"):
        tt.Search(Nim(), tt.puct(c=1.0), evaluator=at_once).run(tt.Limit(simulations=5))

    async def inside():
        tt.Search(Nim(), tt.puct(c=1.0)).run_remote(tt.Limit(simulations=5), at_once)

    with pytest.raises(tt.errors.SearchError, match="await"):
        asyncio.run(inside())
