"""Storage on trees built by real searches, and on ones broken by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treetop as tt
from treetop.tree.layout import BYTES_PER_NODE
from treetop.tree.storage import Tree


def searched(simulations=3000, game="connect_four", **options):
    search = tt.Search(game, tt.uct(**options), seed=1)
    search.run(tt.Limit(simulations=simulations))
    return search


def test_a_node_takes_at_most_thirty_two_bytes():
    search = searched()
    assert BYTES_PER_NODE <= 32
    assert search.tree.nbytes == search.tree.size * BYTES_PER_NODE


def test_a_million_simulations_of_connect_four_stay_under_150_megabytes():
    search = searched(1_000_000)
    assert search.tree.nbytes < 150e6
    search.tree.check((-1, 1))


def test_a_leaf_that_was_visited_once_has_no_children():
    tree = searched().tree
    for node in tree.root.walk():
        if node.visits == 1:
            assert node.is_leaf


def test_growth_doubles_and_keeps_everything():
    tree = Tree(2, zero_sum=True)
    capacities = []
    for _ in range(8):
        tree.ensure_capacity(tree.columns.capacity)
        capacities.append(tree.columns.capacity)
    assert all(after == 2 * before for before, after in itertools.pairwise(capacities))
    one = tt.Search("tic_tac_toe", seed=1)
    one.tree.ensure_capacity(200_000)
    one.run(tt.Limit(simulations=5000))
    other = tt.Search("tic_tac_toe", seed=1)
    other.run(tt.Limit(simulations=5000))
    assert other.result().visits == one.result().visits


def test_many_small_runs_do_not_copy_the_tree_each_time(monkeypatch):
    copies = []
    resize = Tree._resize
    monkeypatch.setattr(Tree, "_resize", lambda tree, capacity: (copies.append(capacity), resize(tree, capacity)))
    search = tt.Search("connect_four", seed=1)
    for _ in range(500):
        search.run(tt.Limit(simulations=40))
    assert len(copies) < 12


def test_reroot_keeps_statistics_of_the_subtree_and_nothing_else():
    search = searched()
    child = search.tree.root.children[3]
    before = [(node.action, node.visits, node.value_sum, node.prior, len(node.children)) for node in child.walk()]
    search.tree.reroot(child.index, 0)
    after = [
        (node.action, node.visits, node.value_sum, node.prior, len(node.children)) for node in search.tree.root.walk()
    ]
    assert after[1:] == before[1:]
    assert after[0][1] == before[0][1]
    assert len(before) == search.tree.size
    search.tree.check((-1, 1))
    assert search.tree.root.parent is None


def test_folding_frees_a_quarter_and_keeps_the_counts_of_what_stays():
    search = searched(20_000)
    tree = search.tree
    visits = {child.action: child.visits for child in tree.root.children}
    size = tree.size
    tree.fold(1)
    assert tree.size <= 0.75 * size + 1
    assert {child.action: child.visits for child in tree.root.children} == visits
    tree.check((-1, 1))
    least = min(node.visits for node in tree.root.walk() if not node.is_leaf)
    assert all(node.visits < least or not node.is_folded for node in tree.root.walk())
    search.run(tt.Limit(simulations=5000))
    tree.check((-1, 1))


def test_a_stale_node_is_an_error_and_not_a_stranger():
    search = searched()
    node = search.tree.root.children[2]
    search.tree.fold(1)
    for read in (
        lambda: node.visits,
        lambda: node.children,
        lambda: node.parent,
        lambda: node.prior,
        lambda: node.is_terminal,
    ):
        with pytest.raises(tt.errors.StaleNodeError):
            read()


@pytest.mark.parametrize(
    ("column", "field", "index", "value", "what"),
    [
        ("links", "parent", 9, 4, "the parent of a child is another node"),
        ("links", "parent", 9, -1, "no parent"),
        ("links", "num_children", 0, 3, "children of no node"),
        ("stats", "visits", 1, 10**6, "fewer visits than its children"),
        ("stats", "value_sum", 1, np.nan, "not finite"),
        ("stats", "value_sum", 1, 1e9, "above the range"),
        ("stats", "value_sum", 1, -1e9, "below the range"),
        ("stats", "prior", 1, 0.9, "do not sum to 1"),
        ("stats", "prior", 1, -1.5, "a prior above 1"),
    ],
)
def test_check_finds_what_is_wrong(column, field, index, value, what):
    tree = searched().tree
    tree.check((-1, 1))
    getattr(tree.columns, column)[field][index] = value
    with pytest.raises(tt.errors.SearchError, match=what):
        tree.check((-1, 1))


def test_nodes_print_and_compare():
    root = searched().tree.root
    assert root == root.children[0].parent
    assert hash(root) == hash(root.children[0].parent)
    assert root.children[0] != root.children[1]
    assert "visits" in repr(root.children[0])
    assert root.own_visits == 1
    assert root.child(99) is None
    assert root.value is None
