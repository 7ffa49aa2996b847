"""Records of evaluations made elsewhere: they replay bit for bit, as far as they go, and only in the search that they are of."""

from __future__ import annotations

import asyncio
import json
import signal

import pytest

import treetop as tt
from tests.search.own_problems import Nim, Race, TicTacToe
from tests.search.remote_evaluators import assert_at_rest, at_once, columns, jittery, worth


@pytest.mark.parametrize("limit", [tt.Limit(simulations=150), tt.Limit(cost=200), tt.Limit(seconds=0.3)])
@pytest.mark.parametrize(
    "config", [tt.puct(c=1.5), tt.uct(virtual_loss="always", fpu=0.2), tt.puct(c=1.5, solver=True, noise=0.2)]
)
def test_a_record_replays_bit_for_bit(tmp_path, limit, config):
    file = tmp_path / "calls.jsonl"
    recorded = tt.Search(Nim(40), config, seed=3)
    recorded.run_remote(tt.Limit(simulations=1), at_once)
    first = recorded.run_remote(limit, jittery(7), in_flight=12, record=file)
    assert first.calls > 20
    replayed = tt.Search(Nim(40), config, seed=3)
    replayed.run_remote(tt.Limit(simulations=1), at_once)
    second = replayed.run_remote(limit, in_flight=12, replay=file)
    assert columns(replayed) == columns(recorded)
    assert replayed._driver.control["rng"] == recorded._driver.control["rng"]
    assert (second.visits, second.value, second.cost, second.stopped) == (
        first.visits,
        first.value,
        first.cost,
        first.stopped,
    )
    # And what follows is the same too.
    assert replayed.run(tt.Limit(simulations=50)).visits == recorded.run(tt.Limit(simulations=50)).visits


def test_two_orders_of_answers_are_two_searches_and_each_replays(tmp_path):
    visits = []
    for order in (1, 2):
        file = tmp_path / f"{order}.jsonl"
        search = tt.Search(Nim(40), tt.puct(c=1.5), seed=3)
        search.run_remote(tt.Limit(simulations=200), jittery(order), in_flight=16, record=file)
        again = tt.Search(Nim(40), tt.puct(c=1.5), seed=3)
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
    recorded = tt.Search(Nim(41), tt.puct(c=1.5), seed=3)
    first = recorded.run_remote(tt.Limit(simulations=500), evaluate, in_flight=6, record=file)
    assert first.interrupted
    assert first.failures
    replayed = tt.Search(Nim(41), tt.puct(c=1.5), seed=3)
    second = replayed.run_remote(tt.Limit(simulations=500), in_flight=6, replay=file)
    assert columns(replayed) == columns(recorded)
    assert second.failures == first.failures
    assert second.stopped == "interrupted"


def test_a_record_that_was_cut_off_replays_as_far_as_it_goes(tmp_path):
    file = tmp_path / "calls.jsonl"
    tt.Search(Nim(40), tt.puct(c=1.5), seed=3).run_remote(
        tt.Limit(simulations=100), jittery(7), in_flight=4, record=file
    )
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:50]) + lines[50][:20])
    search = tt.Search(Nim(40), tt.puct(c=1.5), seed=3)
    result = search.run_remote(tt.Limit(simulations=100), in_flight=4, replay=file)
    assert_at_rest(search)
    assert result.stopped == "the record ended"
    assert result.simulations == 49


def test_a_record_of_another_search_is_refused(tmp_path):
    file = tmp_path / "calls.jsonl"
    limit = tt.Limit(simulations=30)
    tt.Search(Nim(40), tt.puct(c=1.5), seed=3).run_remote(limit, jittery(7), record=file)
    with pytest.raises(tt.errors.SaveError, match="exists already"):
        tt.Search(Nim(40), tt.puct(c=1.5), seed=3).run_remote(limit, jittery(7), record=file)
    for search, options, message in (
        (tt.Search(Nim(40), tt.puct(c=1.5), seed=4), {}, "seed"),
        (tt.Search(Nim(40), tt.puct(c=1.0), seed=3), {}, "config"),
        (tt.Search(Nim(40), tt.puct(c=1.5), seed=3), {"in_flight": 4}, "in_flight"),
        (tt.Search(TicTacToe(), tt.puct(c=1.5), seed=3), {}, "problem"),
        (tt.Search(Nim(2, most=1), tt.puct(c=1.5, stop_when_forced=False), seed=3), {}, "config"),
    ):
        with pytest.raises(tt.errors.SaveError, match=message):
            search.run_remote(limit, replay=file, **options)
        assert_at_rest(search)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text(lines[0] + lines[5] + lines[1])
    search = tt.Search(Nim(40), tt.puct(c=1.5), seed=3)
    with pytest.raises(tt.errors.SaveError, match="does not fit this search"):
        search.run_remote(limit, replay=file)
    assert search.in_flight == 0
    file.write_text(lines[0] + "{]\n" + lines[1])
    with pytest.raises(tt.errors.SaveError, match="line 2"):
        search.run_remote(limit, replay=file)
    file.write_text("[1]\n")
    with pytest.raises(tt.errors.SaveError):
        search.run_remote(limit, replay=file)


def test_keys_name_the_calls_in_a_record(tmp_path):
    class Keyed(Nim):
        def key(self, state):
            return f"heap {state[0]}"

    file = tmp_path / "calls.jsonl"
    tt.Search(Keyed(), tt.puct(c=1.5), seed=3).run_remote(tt.Limit(simulations=5), jittery(7), record=file)
    first = json.loads(file.read_text().splitlines()[1])
    assert first["at"] == ["heap 21"]
    assert {"prior", "values", "cost", "seconds", "attempts", "call"} <= set(first)


def test_chance_is_drawn_before_anybody_is_asked(tmp_path):
    async def evaluate(state, actions):
        await asyncio.sleep(0.001)
        assert state[3] is not None
        return None, 0.01 * (state[0] - state[1]) * (1 if state[2] == 0 else -1)

    file = tmp_path / "calls.jsonl"
    search = tt.Search(Race(), tt.puct(c=1.0), seed=1, root=(0, 0, 0, 4))
    search.run_remote(tt.Limit(simulations=200), evaluate, record=file)
    assert_at_rest(search)
    again = tt.Search(Race(), tt.puct(c=1.0), seed=1, root=(0, 0, 0, 4))
    again.run_remote(tt.Limit(simulations=200), replay=file)
    assert columns(again) == columns(search)


def test_how_often_the_search_looks_up_while_it_waits_changes_nothing(tmp_path):
    async def slow(state, actions):
        await asyncio.sleep(0.12 + 0.03 * (state[0] % 5))
        return None, worth(state)

    file = tmp_path / "calls.jsonl"
    recorded = tt.Search(Nim(40), tt.puct(c=1.5), seed=3)
    recorded.run_remote(tt.Limit(seconds=1.3), slow, in_flight=7, record=file)
    replayed = tt.Search(Nim(40), tt.puct(c=1.5), seed=3)
    replayed.run_remote(tt.Limit(seconds=1.3), in_flight=7, replay=file)
    assert columns(replayed) == columns(recorded)
    assert replayed._driver.control["rng"] == recorded._driver.control["rng"]
