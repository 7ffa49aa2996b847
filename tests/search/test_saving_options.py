"""A search with options goes on after a load as if nothing had happened, bit for bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treetop as tt
from tests.search.own_rules import moody
from tests.sketch import Sketch, random_drawing
from treetop.search.drivers.scratch import KEPT
from treetop.tree.layout import OPTIONAL

SEARCHES = {
    "solver": (tt.uct(solver=True), None),
    "solver, folded": (tt.uct(solver=True, max_nodes=60), None),
    "graph": (tt.uct(transpositions=True), None),
    "graph and solver": (tt.uct(transpositions=1024, solver=True), None),
    "graph, folded": (tt.uct(transpositions=True, max_nodes=200), None),
    "noise": (tt.puct(noise=0.25), tt.evaluators.Uniform()),
    "history": (tt.rules.progressive_history(), None),
    "mast": (tt.uct(), tt.Rollout("mast", epsilon=0.123456789)),
    "mast by softmax": (tt.uct(), tt.Rollout("mast_softmax", temperature=0.3)),
    "several rollouts": (tt.uct(), tt.Rollout(count=3)),
    "mixed": (tt.puct(), tt.evaluators.Mixed(tt.evaluators.Uniform(), weight=0.3)),
    "normalise": (tt.uct(normalise=True), None),
    "halving": (tt.rules.halving(), None),
    "halving and solver": (tt.rules.halving(solver=True), None),
    "gumbel": (tt.gumbel(max_considered=5), None),
    "completed and solver": (tt.configure("completed", solver=True), None),
    "completed, folded": (tt.configure("completed", discount=0.9, max_nodes=60), None),
    "thompson": (tt.rules.thompson(), None),
    "tuned": (tt.rules.ucb1_tuned(), None),
    "max backup": (tt.uct(backup="max"), None),
    "mixed backup": (tt.uct(backup="mixed", minimax_share=0.3), None),
    "discount": (tt.uct(discount=0.9), None),
    "widening": (tt.puct(widening=1.0), None),
    "lcb": (tt.uct(final="lcb"), None),
    "temperature": (tt.uct(solver=True, final="temperature", temperature=math.inf), None),
    "nexus": (tt.rules.nexus(), None),
}


def assert_same(search, loaded):
    """Every number that the next simulation reads is the same."""
    size = search.tree.size
    assert loaded.tree.size == size
    ours, theirs = search.tree.columns, loaded.tree.columns
    for name in ("stats", "links"):
        assert getattr(theirs, name)[:size].tobytes() == getattr(ours, name)[:size].tobytes(), name
    for name in OPTIONAL:
        everywhere = name in ("returns", "squares", "vectors", "amaf", "repeats") or (
            name.startswith("own") and not search.tree.is_graph
        )
        if search.tree.has(name) and everywhere:
            np.testing.assert_array_equal(getattr(theirs, name)[1:size], getattr(ours, name)[1:size], err_msg=name)
    assert loaded.tree.totals.tolist() == search.tree.totals.tolist()
    for name in search._driver.control.dtype.names:
        if name not in (
            "size",
            "moves",
            "noise_share",
            "noise_alpha",
            "capacity",
            "done",
            "budget",
            "trailed",
            "status",
            "ending",
            "depth",
            "culprit",
            "answered",
            "tied",
        ):  # what no simulation reads before it is written
            np.testing.assert_equal(loaded._driver.control[name], search._driver.control[name], err_msg=name)
    for name in KEPT:
        np.testing.assert_array_equal(
            getattr(loaded._driver.scratch.work, name), getattr(search._driver.scratch.work, name), err_msg=name
        )
    assert loaded.result().visits == search.result().visits
    assert loaded.result().action == search.result().action


def go_on_both(search, path, **given):
    """Save, load, let both go on; the loaded one."""
    search.save(path)
    loaded = tt.Search.load(path, **given)
    assert (loaded.config, loaded.seed, loaded.solved) == (search.config, search.seed, search.solved)
    for each in (search, loaded):
        each.run(tt.Limit(simulations=317))
        each.tree.check(each.game.facts.rewards)
    assert_same(search, loaded)
    return loaded


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_with_options_goes_on_after_a_load(tmp_path, name):
    config, evaluator = SEARCHES[name]
    search = tt.Search("tic_tac_toe", config, evaluator=evaluator, seed=5)
    search.run(tt.Limit(simulations=333))
    go_on_both(search, tmp_path / "one")
    search.advance(search.result().action)
    loaded = go_on_both(search, tmp_path / "two")
    action = search.result().action
    for each in (search, loaded):
        each.advance(action)
        each.run(tt.Limit(simulations=200))
    assert_same(search, loaded)


@pytest.mark.parametrize("name", SEARCHES)
def test_nothing_depends_on_memory_that_nobody_wrote(monkeypatch, name):
    config, evaluator = SEARCHES[name]
    fresh, reported = np.empty, []
    for byte in (0x00, 0x5A, 0xA5):

        def written_before(*given, byte=byte, **options):
            array = fresh(*given, **options)
            array.view(np.uint8)[...] = byte
            return array

        monkeypatch.setattr(np, "empty", written_before)
        search = tt.Search("tic_tac_toe", config, evaluator=evaluator, seed=5)
        result = search.run(tt.Limit(simulations=300))
        bounds = [None if array is None else array.tolist() for array in (result.lower, result.upper, result.distances)]
        reported.append((result.visits, result.action, result.values, result.pv, bounds, search.tree.size))
    assert reported[0] == reported[1] == reported[2]


@pytest.mark.parametrize(
    "config",
    [tt.rave(), tt.rules.grave(amaf_reference=10), tt.rave(c=0.5, solver=True), tt.rave(max_nodes=24)],
    ids=str,
)
def test_all_moves_as_first_go_on_after_a_load(tmp_path, config):
    for seed in range(4):
        search = tt.Search(random_drawing(seed).position(), config, seed=seed)
        search.run(tt.Limit(simulations=150))
        go_on_both(search, tmp_path / "search", game=Sketch)


def test_a_schedule_goes_on_where_it_was(tmp_path):
    """A plan of 101 simulations is saved after 31 of them."""
    search = tt.Search("tic_tac_toe", tt.gumbel(max_considered=4), evaluator=tt.evaluators.Uniform(), seed=2)

    def drive(each, simulations):
        target = each.simulations + simulations
        while each.simulations < target:
            batch = each.ask(1, tt.Limit(simulations=101)) if each is search and target == 31 else each.ask(1)
            each.tell(batch, *tt.evaluators.Uniform().evaluate(batch))

    drive(search, 31)
    search.save(tmp_path / "search")
    loaded = tt.Search.load(tmp_path / "search")
    for each in (search, loaded):
        drive(each, 70)
        assert sorted(each.result().visits.values(), reverse=True)[:4] == [38, 38, 12, 12]
    assert_same(search, loaded)


def test_a_pass_of_halving_goes_on_where_it_was(tmp_path):
    for before in (5, 12, 25, 40):
        search = tt.Search("tic_tac_toe", tt.rules.halving(), seed=2)
        search.run(tt.Limit(simulations=before))
        search.save(tmp_path / "search")
        loaded = tt.Search.load(tmp_path / "search")
        for each in (search, loaded):
            each.run(tt.Limit(simulations=48 - before))
            assert sorted(each.result().visits.values()) == [1, 1, 1, 1, 3, 3, 7, 15, 15]
        assert_same(search, loaded)


def test_noise_is_not_added_again_after_a_load(tmp_path):
    search = tt.Search("tic_tac_toe", tt.puct(noise=0.25), evaluator=tt.evaluators.Uniform(), seed=2)
    before = search.run(tt.Limit(simulations=50)).priors
    search.save(tmp_path / "search")
    assert np.array_equal(tt.Search.load(tmp_path / "search").run(tt.Limit(simulations=50)).priors, before)


def test_a_proof_is_still_one_after_a_load(tmp_path):
    search = tt.Search(tt.position("tic_tac_toe", moves="a1 b1"), tt.uct(solver=True), seed=2)
    proof = search.run(tt.Limit(simulations=100_000)).proof
    search.save(tmp_path / "search")
    loaded = tt.Search.load(tmp_path / "search")
    assert loaded.solved
    assert loaded.result().proof == proof
    assert loaded.run(tt.Limit(simulations=100)).simulations == 0


@pytest.mark.parametrize("seed", [16, 17])
def test_a_search_whose_moves_were_asked_for_goes_on_the_same(tmp_path, seed):
    """Such a search has changed to a loop that can do more; so must the loaded one, or the last bits of its numbers may differ."""
    search = tt.Search(tt.position("tic_tac_toe", moves="b2"), tt.puct(c=0.9), seed=seed)
    search.run(tt.Limit(simulations=100))
    search.visit("a1", at_least=60)
    search.save(tmp_path / "search")
    loaded = tt.Search.load(tmp_path / "search")
    for each in (search, loaded):
        each.run(tt.Limit(simulations=20_000))
    assert_same(search, loaded)


@pytest.mark.parametrize("solver", [False, True])
def test_a_graph_that_has_just_moved_goes_on_after_a_load(tmp_path, solver):
    """The table that finds positions must fit the nodes of the file, not those that were before the move."""
    search = tt.Search("tic_tac_toe", tt.uct(transpositions=1024, solver=solver), seed=5)
    search.run(tt.Limit(simulations=650))
    search.advance(search.result().action)
    search.save(tmp_path / "search")
    loaded = tt.Search.load(tmp_path / "search")
    for each in (search, loaded):
        each.run(tt.Limit(simulations=400))
        each.tree.check((-1, 1))
    assert_same(search, loaded)


def test_a_rule_of_ones_own_is_given_back_by_hand(tmp_path):
    search = tt.Search("tic_tac_toe", tt.configure(moody, c=0.7), seed=2)
    search.run(tt.Limit(simulations=100))
    path = tmp_path / "search"
    search.save(path)
    with pytest.raises(tt.errors.SaveError, match="rule=..."):
        tt.Search.load(path)
    go_on_both(search, path, rule=moody)


def test_an_evaluator_must_be_the_one_that_searched(tmp_path):
    search = tt.Search("tic_tac_toe", tt.uct(), evaluator=tt.Rollout("mast"), seed=2)
    search.run(tt.Limit(simulations=50))
    search.save(tmp_path / "search")
    with pytest.raises(tt.errors.SaveError, match="mast"):
        tt.Search.load(tmp_path / "search", evaluator=tt.Rollout())


@pytest.mark.parametrize("name", ["solver", "graph", "history", "gumbel"])
def test_a_file_that_lacks_what_an_option_keeps_is_damaged(tmp_path, name):
    config, evaluator = SEARCHES[name]
    search = tt.Search("tic_tac_toe", config, evaluator=evaluator, seed=5)
    search.run(tt.Limit(simulations=50))
    path = tmp_path / "search"
    search.save(path)
    missing = {"solver": "bounds", "graph": "own_sums", "history": "work_history", "gumbel": "own_visits"}[name]
    with np.load(path) as file:
        arrays = {key: file[key] for key in file if key != missing}
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(tt.errors.SaveError, match="damaged"):
        tt.Search.load(path)


@pytest.mark.parametrize(
    ("array", "name"),
    [("work_table", "graph"), ("work_history", "history"), ("bounds", "solver"), ("work_arms", "halving")],
)
def test_arrays_of_another_shape_are_damage(tmp_path, array, name):
    """Compiled code does not look where it writes: what does not fit must be found before."""
    config, evaluator = SEARCHES[name]
    search = tt.Search("tic_tac_toe", config, evaluator=evaluator, seed=5)
    search.run(tt.Limit(simulations=50))
    path = tmp_path / "search"
    search.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays[array] = arrays[array][:3] if array != "work_history" else arrays[array][:, :, :3]
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(tt.errors.SaveError, match="damaged"):
        tt.Search.load(path)
