"""A search has one caller at a time: a second thread, or a call from inside the first one, is refused."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

import treetop as tt
from tests.search.own_problems import Nim

CALLS = {
    "run": lambda search: search.run(tt.Limit(simulations=5)),
    "visit": lambda search: search.visit(search.position.legal_actions()[0], 10**6),
    "ask": lambda search: search.ask(2),
    "advance": lambda search: search.advance(search.position.legal_actions()[0]),
    "prepare": lambda search: search.prepare(),
    "save": lambda search: search.save("nowhere"),
    "ponder": lambda search: search.pondering().__enter__(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_from_a_callback_is_refused_and_leaves_the_search_whole(call):
    search = tt.Search("tic_tac_toe", seed=1)
    seen = []

    def progress(now):
        assert search.result().root_visits  # looking is allowed
        with pytest.raises(tt.errors.SearchError, match=r"during `run`, which has called this code"):
            CALLS[call](search)
        seen.append(now)

    result = search.run(tt.Limit(simulations=2000), progress=progress)
    assert seen
    assert result.counts.tolist() == tt.search("tic_tac_toe", simulations=2000, seed=1).counts.tolist()


def test_a_call_from_an_evaluator_is_refused():
    class Nosy:
        def evaluate(self, batch):
            with pytest.raises(tt.errors.SearchError, match="one caller at a time"):
                search.run(tt.Limit(simulations=1))
            with pytest.raises(tt.errors.SearchError, match="one caller at a time"):
                search.drop(batch)
            return np.zeros((len(batch), 9)), np.zeros((len(batch), 2))

    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=Nosy(), seed=1)
    assert search.run(tt.Limit(simulations=40)).simulations == 40
    search.tree.check((-1, 1))


def in_a_thread(function):
    """What a function raises in a thread of its own."""
    found = []

    def call():
        try:
            function()
        except tt.TreetopError as error:
            found.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return found


@pytest.mark.parametrize(
    "make",
    [lambda: tt.Search("tic_tac_toe", seed=1), lambda: tt.Search(Nim(), seed=1)],
    ids=["compiled", "objects"],
)
def test_a_second_thread_is_refused_while_the_first_one_searches(make):
    search = make()
    found = []

    def progress(now):
        first = 0
        for call in (
            lambda: search.run(tt.Limit(simulations=5)),
            lambda: search.advance(first),
            lambda: search.result(),
            lambda: search.prepare(),
        ):
            found.extend(in_a_thread(call))

    search.run(tt.Limit(simulations=100), progress=progress)
    assert len(found) % 4 == 0
    assert found
    assert all("in another thread" in str(error) for error in found)
    assert not in_a_thread(search.result)
    assert not in_a_thread(lambda: search.run(tt.Limit(simulations=5)))


def test_a_search_over_objects_is_not_re_entered_from_its_problem():
    class Nosy(Nim):
        def step(self, state, action):
            with pytest.raises(tt.errors.SearchError, match="one caller at a time"):
                search.advance(0)
            return super().step(state, action)

    search = tt.Search(Nosy(5), seed=1)
    assert search.run(tt.Limit(simulations=20)).simulations == 20


def test_two_tasks_do_not_share_a_search():
    async def evaluate(state, actions):
        await asyncio.sleep(0)
        return None, 0.0

    async def both():
        search = tt.Search(Nim(), tt.puct(c=1.0), seed=1)
        return await asyncio.gather(
            *(search.arun(tt.Limit(simulations=20), evaluate) for _ in range(2)), return_exceptions=True
        )

    first, second = asyncio.run(both())
    assert first.simulations == 20
    assert isinstance(second, tt.errors.SearchError)


def test_after_an_error_the_search_is_free_again():
    search = tt.Search("tic_tac_toe", seed=1)
    with pytest.raises(tt.errors.ConfigError):
        search.run(tt.Limit(cost=1))
    with pytest.raises(ZeroDivisionError):
        search.run(tt.Limit(simulations=5), progress=lambda now: 1 // 0)
    assert search.run(tt.Limit(simulations=5)).simulations == 5


def test_while_it_ponders_nothing_else_is_done():
    search = tt.Search("tic_tac_toe", seed=1)
    with search.pondering(tt.Limit(simulations=100)):
        for call in ("run", "ask", "advance", "prepare", "save", "ponder"):
            with pytest.raises(tt.errors.SearchError, match="while the search ponders"):
                CALLS[call](search)
        with pytest.raises(tt.errors.SearchError, match="while the search ponders"):
            search.result()
    search.run(tt.Limit(simulations=5))
