"""Shares of nodes: all trees together have a bound, and each session can begin a search."""

from __future__ import annotations

import threading

import pytest

import treetop as tt
from treetop.serve.limits import Limits, TooManyError
from treetop.serve.nodes import Nodes


def searches(count):
    return [tt.Search("tic_tac_toe", seed=seed) for seed in range(count)]


def test_shares_grow_with_their_trees_and_never_exceed_the_bound():
    nodes, search = Nodes(Limits(total_nodes=2_000_000, nodes=600_000, sessions=2)), tt.Search("connect_four", seed=1)
    nodes.allow(search)
    first = nodes.used
    search.run(tt.Limit(simulations=20_000))
    nodes.allow(search)
    assert first < nodes.used <= 600_000
    for other in searches(5):
        nodes.allow(other)
        assert nodes.used <= 2_000_000


def test_each_session_can_begin_a_search_after_one_took_all_it_could():
    nodes = Nodes(Limits(total_nodes=400_000, nodes=400_000, sessions=10))
    made = searches(13)
    for search in made[:12]:
        nodes.allow(search)
    with pytest.raises(TooManyError, match="stop a search, close a game, or start the server with more --nodes"):
        nodes.allow(made[12])
    nodes.release(made[0])
    nodes.allow(made[12])


def test_a_search_without_more_nodes_goes_on_within_its_share():
    nodes, search = Nodes(Limits(total_nodes=40_000, nodes=40_000, sessions=1)), tt.Search("connect_four", seed=1)
    for _ in range(5):
        nodes.allow(search)
        search.run(tt.Limit(simulations=20_000))
    assert search.simulations == 100_000
    assert search.nodes <= nodes.used <= 40_000
    search.tree.check()


def test_others_make_way_one_at_a_time():
    idle = searches(3)
    nodes = Nodes(Limits(total_nodes=800_000, nodes=300_000, sessions=1), lambda: drop())

    def drop():
        if idle:
            nodes.release(idle.pop(0))
        return bool(idle)

    for search in list(idle):
        nodes.allow(search)
    nodes.allow(tt.Search("tic_tac_toe"))
    assert len(idle) == 2


def test_shares_are_exact_with_many_threads():
    nodes = Nodes(Limits(total_nodes=1_000_000, nodes=300_000, sessions=8))

    def use(seed):
        for search in searches(20):
            nodes.allow(search)
            assert nodes.used <= 1_000_000
            nodes.release(search)

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert nodes.used == 0
