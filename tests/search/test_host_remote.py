"""Evaluations made elsewhere: many in flight, deadlines, second attempts, budgets, cancellation, and records that replay bit for bit."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import threading
import time

import numpy as np
import pytest

import treetop as tt
from tests.search.own_problems import Gamble, Nim, Race, TicTacToe


def worth(state):
    """What a heap is worth to the player to move."""
    return 0.5 if state[0] % 4 else -0.5


async def at_once(state, actions):
    return None, worth(state)


def jittery(seed, cost=1.0):
    """An evaluator whose calls come back in another order each time."""
    random = np.random.default_rng(seed)

    async def evaluate(state, actions):
        await asyncio.sleep(random.uniform(0.0, 0.004))
        return [1 + action for action in actions], worth(state) + 0.01 * math.sin(state[0]), cost

    return evaluate


def assert_at_rest(search):
    search.tree.check(search.view.facts.rewards)  # which refuses a tree with anything in flight
    assert search.in_flight == 0
    assert not any(task for task in threading.enumerate() if task.name == "treetop evaluation" and not task.daemon)


def columns(search):
    size = search.tree.size
    return [search.tree.columns.stats[:size].tobytes(), search.tree.columns.links[:size].tobytes(), search.tree.totals.tobytes()]


def test_a_coroutine_evaluates_and_the_search_is_made():
    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
    result = asyncio.run(search.arun(tt.Limit(simulations=100), at_once, in_flight=8))
    assert_at_rest(search)
    assert result.simulations == 100
    assert result.calls == 100
    assert result.stopped == "the limit was reached"
    assert sum(result.visits.values()) == 99


def test_one_in_flight_is_the_search_that_waits():
    here = tt.HostSearch(Nim(), tt.puct(c=1.5), evaluator=lambda state, actions: (None, worth(state)), seed=1).run(tt.Limit(simulations=150))
    elsewhere = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1).run_remote(tt.Limit(simulations=150), at_once, in_flight=1)
    assert elsewhere.visits == here.visits
    assert elsewhere.value == here.value


def test_many_in_flight_take_far_less_time():
    async def slow(state, actions):
        await asyncio.sleep(0.02)
        return None, worth(state)

    rates = {}
    for width, calls in ((1, 10), (32, 320)):
        search = tt.HostSearch(Nim(200), tt.puct(c=1.5), seed=1)
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

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), evaluator=evaluate, seed=1)
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

        search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
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

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=60), evaluate, timeout=0.05)
    assert_at_rest(search)
    assert result.simulations == 60
    assert result.visits[0] == 0
    assert result.failures == (tt.Failure((0,), "its evaluation failed: it took longer than 0.05 s"),)


def test_a_thread_that_hangs_is_left_behind():
    def evaluate(state, actions):
        if state[0] == 20:
            time.sleep(1.0)
        return None, worth(state)

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), evaluator=evaluate, seed=1)
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

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=60), evaluate, retries=2, backoff=0.03)
    assert not result.failures
    assert result.visits[0] > 0
    assert times[1] - times[0] >= 0.03
    assert times[2] - times[1] >= 0.06
    assert result.calls == 62


@pytest.mark.parametrize("answer", [(None, math.nan), ([math.nan, 1, 1], 0.0), "nonsense", (None, 0.0, -3), (None, 0.0, math.inf)])
def test_an_answer_that_is_none_counts_as_a_failure(answer):
    async def evaluate(state, actions):
        return answer if state[0] == 20 else (None, worth(state))

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=60), evaluate, retries=1, backoff=0.0)
    assert_at_rest(search)
    assert result.visits[0] == 0
    assert "Error: " in result.failures[0].reason
    assert "the last of 2 attempts" in result.failures[0].reason


def test_a_root_that_cannot_be_evaluated_is_an_error():
    async def evaluate(state, actions):
        raise OSError("no such host")

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
    with pytest.raises(tt.SearchError, match="no such host"):
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
        search = tt.HostSearch(Nim(60), tt.puct(c=1.5), seed=1)
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

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(seconds=0.2), evaluate)
    assert_at_rest(search)
    assert result.simulations == 1
    assert len(cancelled) == 3
    assert search.run_remote(tt.Limit(simulations=20), at_once).simulations == 20


def test_a_task_that_is_cancelled_leaves_the_tree_at_rest():
    async def slow(state, actions):
        await asyncio.sleep(0.005 if state[0] > 15 else 60)
        return None, worth(state)

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)

    async def main():
        task = asyncio.create_task(search.arun(tt.Limit(simulations=1000), slow))
        await asyncio.sleep(0.1)
        assert search.in_flight > 0
        with pytest.raises(tt.SearchError, match="in flight"):
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

    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=1000), evaluate)
    assert_at_rest(search)
    assert result.interrupted
    assert 0 < result.simulations < 40
    assert search.run_remote(tt.Limit(simulations=5), at_once).simulations == 5


@pytest.mark.parametrize("limit", [tt.Limit(simulations=150), tt.Limit(cost=200), tt.Limit(seconds=0.3)])
@pytest.mark.parametrize("config", [tt.puct(c=1.5), tt.uct(virtual="loss", first_play=0.2), tt.puct(c=1.5, solver=True, noise=0.2)])
def test_a_record_replays_bit_for_bit(tmp_path, limit, config):
    file = tmp_path / "calls.jsonl"
    recorded = tt.HostSearch(Nim(40), config, seed=3)
    recorded.run_remote(tt.Limit(simulations=1), at_once)
    first = recorded.run_remote(limit, jittery(7), in_flight=12, record=file)
    assert first.calls > 20
    replayed = tt.HostSearch(Nim(40), config, seed=3)
    replayed.run_remote(tt.Limit(simulations=1), at_once)
    second = replayed.run_remote(limit, in_flight=12, replay=file)
    assert columns(replayed) == columns(recorded)
    assert replayed._machine.control["rng"] == recorded._machine.control["rng"]
    assert (second.visits, second.value, second.cost, second.stopped) == (first.visits, first.value, first.cost, first.stopped)
    # And what follows is the same too.
    assert replayed.run(tt.Limit(simulations=50)).visits == recorded.run(tt.Limit(simulations=50)).visits


def test_two_orders_of_answers_are_two_searches_and_each_replays(tmp_path):
    visits = []
    for order in (1, 2):
        file = tmp_path / f"{order}.jsonl"
        search = tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3)
        search.run_remote(tt.Limit(simulations=200), jittery(order), in_flight=16, record=file)
        again = tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3)
        again.run_remote(tt.Limit(simulations=200), in_flight=16, replay=file)
        assert columns(again) == columns(search)
        visits.append([json.loads(line)["call"] for line in file.read_text().splitlines()[1:-1]])
    assert visits[0] != visits[1]


def test_failures_and_interrupts_replay_too(tmp_path):
    calls = 0

    async def evaluate(state, actions):
        nonlocal calls
        calls += 1
        if calls == 60:
            signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.001 * (calls % 3))
        if state[0] % 5 == 0:
            raise ValueError("fives are too hard")
        return None, worth(state)

    file = tmp_path / "calls.jsonl"
    recorded = tt.HostSearch(Nim(41), tt.puct(c=1.5), seed=3)
    first = recorded.run_remote(tt.Limit(simulations=500), evaluate, in_flight=6, record=file)
    assert first.interrupted
    assert first.failures
    replayed = tt.HostSearch(Nim(41), tt.puct(c=1.5), seed=3)
    second = replayed.run_remote(tt.Limit(simulations=500), in_flight=6, replay=file)
    assert columns(replayed) == columns(recorded)
    assert second.failures == first.failures
    assert second.stopped == "interrupted"


def test_a_record_that_was_cut_off_replays_as_far_as_it_goes(tmp_path):
    file = tmp_path / "calls.jsonl"
    tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3).run_remote(tt.Limit(simulations=100), jittery(7), in_flight=4, record=file)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:50]) + lines[50][:20])
    search = tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3)
    result = search.run_remote(tt.Limit(simulations=100), in_flight=4, replay=file)
    assert_at_rest(search)
    assert result.stopped == "the record ended"
    assert result.simulations == 49


def test_a_record_of_another_search_is_refused(tmp_path):
    file = tmp_path / "calls.jsonl"
    limit = tt.Limit(simulations=30)
    tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3).run_remote(limit, jittery(7), record=file)
    with pytest.raises(tt.SaveError, match="exists already"):
        tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3).run_remote(limit, jittery(7), record=file)
    for search, options, told in (
        (tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=4), {}, "seed"),
        (tt.HostSearch(Nim(40), tt.puct(c=1.0), seed=3), {}, "config"),
        (tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3), {"in_flight": 4}, "in_flight"),
        (tt.HostSearch(TicTacToe(), tt.puct(c=1.5), seed=3), {}, "problem"),
        (tt.HostSearch(Nim(2, most=1), tt.puct(c=1.5, stop_when_forced=False), seed=3), {}, "config"),
    ):
        with pytest.raises(tt.SaveError, match=told):
            search.run_remote(limit, replay=file, **options)
        assert_at_rest(search)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text(lines[0] + lines[5] + lines[1])
    search = tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3)
    with pytest.raises(tt.SaveError, match="does not fit this search"):
        search.run_remote(limit, replay=file)
    assert search.in_flight == 0
    file.write_text(lines[0] + "{]\n" + lines[1])
    with pytest.raises(tt.SaveError, match="line 2"):
        search.run_remote(limit, replay=file)
    file.write_text("[1]\n")
    with pytest.raises(tt.SaveError):
        search.run_remote(limit, replay=file)


def test_keys_name_the_calls_in_a_record(tmp_path):
    class Keyed(Nim):
        def key(self, state):
            return f"heap {state[0]}"

    file = tmp_path / "calls.jsonl"
    tt.HostSearch(Keyed(), tt.puct(c=1.5), seed=3).run_remote(tt.Limit(simulations=5), jittery(7), record=file)
    first = json.loads(file.read_text().splitlines()[1])
    assert first["at"] == ["heap 21"]
    assert {"prior", "values", "cost", "seconds", "attempts", "call"} <= set(first)


def test_chance_is_drawn_before_anybody_is_asked(tmp_path):
    async def evaluate(state, actions):
        await asyncio.sleep(0.001)
        assert state[3] is not None
        return None, 0.01 * (state[0] - state[1]) * (1 if state[2] == 0 else -1)

    file = tmp_path / "calls.jsonl"
    search = tt.HostSearch(Race(), tt.puct(c=1.0), seed=1, root=(0, 0, 0, 4))
    search.run_remote(tt.Limit(simulations=200), evaluate, record=file)
    assert_at_rest(search)
    again = tt.HostSearch(Race(), tt.puct(c=1.0), seed=1, root=(0, 0, 0, 4))
    again.run_remote(tt.Limit(simulations=200), replay=file)
    assert columns(again) == columns(search)


def test_a_tree_without_open_leaves_ends_by_itself():
    search = tt.HostSearch(Gamble(), tt.puct(c=1.0), seed=1)

    async def evaluate(state, actions):
        return None, 0.0

    result = search.run_remote(tt.Limit(calls=50), evaluate)
    search.tree.check()
    assert result.stopped == "nothing is left to evaluate"
    assert result.action == "throw"


def test_the_solver_ends_a_remote_search_too():
    search = tt.HostSearch(Nim(6), tt.puct(c=1.5, solver=True), seed=1)
    result = search.run_remote(tt.Limit(simulations=10_000), at_once)
    assert_at_rest(search)
    assert result.proof is not None
    assert result.proof.value == 1
    assert result.stopped == "solved"


class Lock:
    """One player: three digits open it."""

    reward_range = (0, 1)

    def initial(self):
        return ()

    def actions(self, state):
        return range(4)

    def step(self, state, action):
        return (*state, action)

    def is_terminal(self, state):
        return len(state) == 3

    def rewards(self, state):
        return float(state == (1, 2, 3))


@pytest.mark.parametrize("in_flight", [1, 3, 8])
def test_a_record_of_a_search_that_was_solved_replays_to_its_last_answer(tmp_path, in_flight):
    file = tmp_path / "calls.jsonl"
    random = np.random.default_rng(3)

    async def evaluate(state, actions):
        await asyncio.sleep(random.uniform(0.0, 0.004))
        return None, 0.5, 1

    recorded = tt.HostSearch(Lock(), tt.puct(c=1.5, solver=True), seed=1)
    first = recorded.run_remote(tt.Limit(simulations=10_000), evaluate, in_flight=in_flight, record=file)
    assert first.stopped == "solved"
    assert first.proof.value == 1
    replayed = tt.HostSearch(Lock(), tt.puct(c=1.5, solver=True), seed=1)
    second = replayed.run_remote(tt.Limit(simulations=10_000), in_flight=in_flight, replay=file)
    assert columns(replayed) == columns(recorded)
    assert (second.stopped, second.cost, second.calls) == ("solved", first.cost, first.calls)


def test_what_is_solved_waits_for_nobody():
    async def evaluate(state, actions):
        await asyncio.sleep(0.0 if state in ((), (1,), (1, 2)) else 60)
        return {len(state) + 1: 0.9, 0: 0.1}, 0.5

    search = tt.HostSearch(Lock(), tt.puct(c=1.5, solver=True), seed=1)
    result = search.run_remote(tt.Limit(seconds=30), evaluate, in_flight=8)
    assert_at_rest(search)
    assert result.stopped == "solved"
    assert result.calls > len(result.call_log)  # somebody was still being asked
    assert result.elapsed < 20


def test_rollouts_here_and_evaluations_elsewhere_share_a_tree():
    search = tt.HostSearch(Nim(), tt.uct(), seed=1)
    search.run(tt.Limit(simulations=100))
    result = search.run_remote(tt.Limit(simulations=100), at_once)
    assert_at_rest(search)
    assert search.run(tt.Limit(simulations=100)).simulations == 100
    assert search.simulations == 300
    assert result.calls > 0


@pytest.mark.parametrize("options", [{"in_flight": 0}, {"retries": -1}, {"timeout": 0}, {"backoff": -1}, {"processes": 2}, {"record": "a", "replay": "b"}])
def test_options_that_do_not_fit_are_refused(options):
    with pytest.raises(tt.ConfigError):
        tt.HostSearch(Nim(), tt.puct(c=1.0)).run_remote(tt.Limit(simulations=5), at_once, **options)


def test_progress_is_told_on_the_way():
    told = []
    search = tt.HostSearch(Nim(60), tt.puct(c=1.5), seed=1)
    search.run_remote(tt.Limit(seconds=0.5), jittery(1), in_flight=4, progress=told.append)
    assert told
    assert 0 < told[0].simulations <= told[-1].simulations


def test_what_cannot_run_elsewhere_is_refused():
    with pytest.raises(tt.ConfigError, match="give evaluate"):
        tt.HostSearch(Nim()).run_remote(tt.Limit(simulations=5))
    with pytest.raises(tt.ConfigError, match="max_nodes"):
        tt.HostSearch(Nim(), tt.puct(c=1.0, max_nodes=100)).run_remote(tt.Limit(simulations=5), at_once)
    with pytest.raises(tt.ConfigError, match="arun or run_remote"):
        tt.HostSearch(Nim(), tt.puct(c=1.0), evaluator=at_once).run(tt.Limit(simulations=5))

    async def inside():
        tt.HostSearch(Nim(), tt.puct(c=1.0)).run_remote(tt.Limit(simulations=5), at_once)

    with pytest.raises(tt.SearchError, match="await"):
        asyncio.run(inside())


def test_how_often_the_search_looks_up_while_it_waits_changes_nothing(tmp_path):
    async def slow(state, actions):
        await asyncio.sleep(0.12 + 0.03 * (state[0] % 5))
        return None, worth(state)

    file = tmp_path / "calls.jsonl"
    recorded = tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3)
    recorded.run_remote(tt.Limit(seconds=1.3), slow, in_flight=7, record=file)
    replayed = tt.HostSearch(Nim(40), tt.puct(c=1.5), seed=3)
    replayed.run_remote(tt.Limit(seconds=1.3), in_flight=7, replay=file)
    assert columns(replayed) == columns(recorded)
    assert replayed._machine.control["rng"] == recorded._machine.control["rng"]


def told_calls(result):
    return [(call.path, call.cost, call.attempts, call.error, call.note) for call in result.call_log]


def test_the_log_tells_each_call_with_its_node_its_cost_and_its_note_also_after_a_replay(tmp_path):
    async def evaluate(state, actions):
        await asyncio.sleep(0.001 * (state[0] % 3))
        return None, worth(state), float(state[0]), {"heap": state[0], "said": ("ä", 1)}

    file = tmp_path / "calls.jsonl"
    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=3)
    result = search.run_remote(tt.Limit(simulations=30), evaluate, in_flight=5, record=file)
    assert len(result.call_log) == result.calls == 30
    assert sum(call.cost for call in result.call_log) == result.cost
    assert len({call.path for call in result.call_log}) == 30
    for call in result.call_log:
        heap = 21 - sum(taken + 1 for taken in call.path)
        assert (call.cost, call.note) == (heap, {"heap": heap, "said": ["ä", 1]})
    again = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=3).run_remote(tt.Limit(simulations=30), in_flight=5, replay=file)
    assert told_calls(again) == told_calls(result)
    search.advance(0)
    below = search.run_remote(tt.Limit(calls=3), evaluate)
    assert len(below.call_log) == 3
    assert all(call.path[0] == 0 for call in below.call_log)  # from where the search began
    assert not search.run(tt.Limit(simulations=5)).call_log  # by rollouts, made here


def test_what_failed_attempts_cost_is_counted(tmp_path):
    async def evaluate(state, actions):
        if state[0] == 20:
            raise tt.EvaluationError("only noise", cost=7, note="hm")
        if state[0] == 19:
            return None, math.nan, 5
        return None, worth(state), 1

    file = tmp_path / "calls.jsonl"
    search = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=10), evaluate, retries=2, backoff=0.0, record=file)
    assert result.cost == 10 + 3 * 7 + 3 * 5
    told = {call.path: call for call in result.call_log}
    assert (told[(0,)].cost, told[(0,)].attempts, told[(0,)].note, told[(0,)].error) == (21, 3, "hm", "EvaluationError: only noise")
    assert told[(1,)].cost == 15
    again = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1).run_remote(tt.Limit(simulations=10), replay=file)
    assert told_calls(again) == told_calls(result)
    assert again.cost == result.cost


@pytest.mark.parametrize("note", [{1, 2}, math.nan, object()])
def test_a_note_that_no_record_could_hold_is_a_failure(note):
    async def evaluate(state, actions):
        return None, worth(state), 2, note if state[0] == 20 else None

    result = tt.HostSearch(Nim(), tt.puct(c=1.5), seed=1).run_remote(tt.Limit(simulations=10), evaluate)
    assert "a note is whatever JSON can hold" in result.failures[0].reason
    with pytest.raises(tt.ConfigError, match="JSON"):
        tt.EvaluationError("no", note=note)
    with pytest.raises(tt.ConfigError, match="cost"):
        tt.EvaluationError("no", cost=-1)


class Connected:
    """An evaluator that may be used between its opening and its closing alone."""

    def __init__(self, refuses=False):
        self.events, self.refuses = [], refuses

    async def __aenter__(self):
        if self.refuses:
            raise OSError("no line")
        self.events.append("open")
        return self

    async def __aexit__(self, *error):
        self.events.append("closed")

    async def evaluate(self, state, actions):
        assert self.events[-1] in ("open", "asked")
        self.events.append("asked")
        await asyncio.sleep(0.0)
        return None, worth(state)


def test_an_evaluator_with_a_connection_is_opened_and_closed_by_each_run(tmp_path):
    evaluator = Connected()
    search = tt.HostSearch(Nim(), tt.puct(c=1.5), evaluator=evaluator, seed=1)
    search.run_remote(tt.Limit(calls=3), record=tmp_path / "calls.jsonl")
    search.run_remote(tt.Limit(calls=2))
    assert evaluator.events == ["open", *["asked"] * 3, "closed", "open", *["asked"] * 2, "closed"]
    replayed = Connected(refuses=True)  # a replay needs no line
    tt.HostSearch(Nim(), tt.puct(c=1.5), evaluator=replayed, seed=1).run_remote(tt.Limit(calls=3), replay=tmp_path / "calls.jsonl")
    search = tt.HostSearch(Nim(), tt.puct(c=1.5), evaluator=Connected(refuses=True), seed=1)
    with pytest.raises(OSError, match="no line"):
        search.run_remote(tt.Limit(calls=3), record=tmp_path / "more.jsonl")
    assert_at_rest(search)
