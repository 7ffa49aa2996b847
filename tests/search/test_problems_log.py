"""The log of a remote search: their cost, notes and connections; and that it waits for none when it is solved."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest

import treetop as tt
from tests.search.own_problems import Nim
from tests.search.remote_evaluators import assert_at_rest, columns, worth


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

    recorded = tt.Search(Lock(), tt.puct(c=1.5, solver=True), seed=1)
    first = recorded.run_remote(tt.Limit(simulations=10_000), evaluate, in_flight=in_flight, record=file)
    assert first.stopped == "solved"
    assert first.proof.value == 1
    replayed = tt.Search(Lock(), tt.puct(c=1.5, solver=True), seed=1)
    second = replayed.run_remote(tt.Limit(simulations=10_000), in_flight=in_flight, replay=file)
    assert columns(replayed) == columns(recorded)
    assert (second.stopped, second.cost, second.calls) == ("solved", first.cost, first.calls)


def test_what_is_solved_waits_for_nobody():
    async def evaluate(state, actions):
        await asyncio.sleep(0.0 if state in ((), (1,), (1, 2)) else 60)
        return {len(state) + 1: 0.9, 0: 0.1}, 0.5

    search = tt.Search(Lock(), tt.puct(c=1.5, solver=True), seed=1)
    result = search.run_remote(tt.Limit(seconds=30), evaluate, in_flight=8)
    assert_at_rest(search)
    assert result.stopped == "solved"
    assert result.calls > len(result.call_log)  # somebody was still being asked
    assert result.elapsed < 20


def logged_calls(result):
    return [(call.path, call.cost, call.attempts, call.error, call.note) for call in result.call_log]


def test_the_log_reports_each_call_with_its_node_its_cost_and_its_note_also_after_a_replay(tmp_path):
    async def evaluate(state, actions):
        await asyncio.sleep(0.001 * (state[0] % 3))
        return None, worth(state), float(state[0]), {"heap": state[0], "said": ("ä", 1)}

    file = tmp_path / "calls.jsonl"
    search = tt.Search(Nim(), tt.puct(c=1.5), seed=3)
    result = search.run_remote(tt.Limit(simulations=30), evaluate, in_flight=5, record=file)
    assert len(result.call_log) == result.calls == 30
    assert sum(call.cost for call in result.call_log) == result.cost
    assert len({call.path for call in result.call_log}) == 30
    for call in result.call_log:
        heap = 21 - sum(taken + 1 for taken in call.path)
        assert (call.cost, call.note) == (heap, {"heap": heap, "said": ["ä", 1]})
    again = tt.Search(Nim(), tt.puct(c=1.5), seed=3).run_remote(tt.Limit(simulations=30), in_flight=5, replay=file)
    assert logged_calls(again) == logged_calls(result)
    search.advance(0)
    below = search.run_remote(tt.Limit(calls=3), evaluate)
    assert len(below.call_log) == 3
    assert all(call.path[0] == 0 for call in below.call_log)  # from where the search began
    assert not search.run(tt.Limit(simulations=5)).call_log  # by rollouts, made here


def test_what_failed_attempts_cost_is_counted(tmp_path):
    async def evaluate(state, actions):
        if state[0] == 20:
            raise tt.errors.EvaluationError("only noise", cost=7, note="hm")
        if state[0] == 19:
            return None, math.nan, 5
        return None, worth(state), 1

    file = tmp_path / "calls.jsonl"
    search = tt.Search(Nim(), tt.puct(c=1.5), seed=1)
    result = search.run_remote(tt.Limit(simulations=10), evaluate, retries=2, backoff=0.0, record=file)
    assert result.cost == 10 + 3 * 7 + 3 * 5
    reported = {call.path: call for call in result.call_log}
    assert (reported[(0,)].cost, reported[(0,)].attempts, reported[(0,)].note, reported[(0,)].error) == (
        21,
        3,
        "hm",
        "EvaluationError: only noise",
    )
    assert reported[(1,)].cost == 15
    again = tt.Search(Nim(), tt.puct(c=1.5), seed=1).run_remote(tt.Limit(simulations=10), replay=file)
    assert logged_calls(again) == logged_calls(result)
    assert again.cost == result.cost


@pytest.mark.parametrize("note", [{1, 2}, math.nan, object()])
def test_a_note_that_no_record_could_hold_is_a_failure(note):
    async def evaluate(state, actions):
        return None, worth(state), 2, note if state[0] == 20 else None

    result = tt.Search(Nim(), tt.puct(c=1.5), seed=1).run_remote(tt.Limit(simulations=10), evaluate)
    assert "note must be a value that JSON can hold" in result.failures[0].reason
    with pytest.raises(tt.errors.ConfigError, match="JSON"):
        tt.errors.EvaluationError("no", note=note)
    with pytest.raises(tt.errors.ConfigError, match="cost"):
        tt.errors.EvaluationError("no", cost=-1)


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
    search = tt.Search(Nim(), tt.puct(c=1.5), evaluator=evaluator, seed=1)
    search.run_remote(tt.Limit(calls=3), record=tmp_path / "calls.jsonl")
    search.run_remote(tt.Limit(calls=2))
    assert evaluator.events == ["open", *["asked"] * 3, "closed", "open", *["asked"] * 2, "closed"]
    replayed = Connected(refuses=True)  # a replay needs no line
    tt.Search(Nim(), tt.puct(c=1.5), evaluator=replayed, seed=1).run_remote(
        tt.Limit(calls=3), replay=tmp_path / "calls.jsonl"
    )
    search = tt.Search(Nim(), tt.puct(c=1.5), evaluator=Connected(refuses=True), seed=1)
    with pytest.raises(OSError, match="no line"):
        search.run_remote(tt.Limit(calls=3), record=tmp_path / "more.jsonl")
    assert_at_rest(search)
