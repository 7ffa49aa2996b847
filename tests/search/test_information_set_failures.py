"""Memory and failures of information-set search: nothing is written past the end of an array, and the tree stays whole."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.all_kinds import Aim
from tests.own_games import start
from tests.search.fragile_games import Auction
from tests.search.slices import images, in_slices

pytestmark = pytest.mark.usefixtures("untried")


@pytest.mark.parametrize("config", [tt.uct(), tt.puct(), tt.regret_matching()], ids=str)
def test_an_information_set_search_in_slices_is_the_same_search(config):
    position = tt.position("goofspiel").resolve_chance(tt.Rng(1))
    pieces = in_slices(position, config, slices=40, size=100)
    whole = tt.Search(position, config, seed=4)
    whole.run(tt.Limit(simulations=4000))
    assert pieces.tree.columns.capacity != whole.tree.columns.capacity
    assert images(pieces) == images(whole)


@pytest.mark.parametrize("config", [tt.uct(), tt.uct(chance_widening=1.0)], ids=str)
def test_a_search_of_continuous_actions_in_slices_is_the_same_search(config):
    pieces = in_slices("pendulum(horizon=4, wind=1.0)", config, slices=40, size=25)
    whole = tt.Search("pendulum(horizon=4, wind=1.0)", config, seed=4)
    whole.run(tt.Limit(simulations=1000))
    assert pieces.tree.columns.capacity != whole.tree.columns.capacity
    assert pieces.tree.totals.tolist() == whole.tree.totals.tolist()
    assert pieces.result().counts.tolist() == whole.result().counts.tolist()


@pytest.mark.parametrize("config", [tt.uct(c=20.0), tt.regret_matching()], ids=str)
def test_a_game_that_fails_at_simultaneous_moves_leaves_the_tree_whole(config):
    search = tt.Search(Auction, config, seed=5)
    with pytest.raises(tt.errors.GameError, match="too loud") as message:
        search.run(tt.Limit(simulations=50_000))
    assert "fragile_games.py" in str(message.value)
    search.tree.check()
    children = [child.visits for child in search.tree.root.children]
    assert sum(children) == search.simulations - 1


def test_a_game_that_fails_while_sampling_an_action_leaves_no_action_behind():
    search = tt.Search(start(Aim, sore=True), tt.uct(), seed=6)
    with pytest.raises(tt.errors.GameError, match="a sore arm"):
        search.run(tt.Limit(simulations=50_000))
    search.tree.check()
    links = search.tree.columns.links[: search.tree.size]
    for view in np.flatnonzero(search.tree.columns.keys[: search.tree.size]):
        values = search.tree.columns.action_values[links["first_child"][view] :][: links["num_children"][view]]
        assert np.all(np.abs(values) <= 1.0)


def test_an_information_set_never_holds_more_sampled_actions_than_fit():
    search = tt.Search(Aim, tt.uct(widening=1000.0, widening_power=1.0), seed=7)
    search.prepare()
    work = search._driver.scratch.work
    search._driver.scratch.replace(tied=work.tied[:50].copy(), scores=work.scores[:50].copy())
    search.run(tt.Limit(simulations=3000))
    search.tree.check()
    assert search.tree.columns.links["num_children"][: search.tree.size].max() == 50


def test_a_full_tree_of_information_sets_counts_only_choices_that_were_made():
    position = tt.Position(Auction)
    search = tt.Search(position, tt.uct(max_nodes=300), seed=8)
    search.prepare()
    for _ in range(300):
        try:
            search._driver.run(20)
        except tt.errors.GameError:
            break
    search.tree.check()
    assert search._driver.control[0]["frozen"]


@pytest.mark.parametrize(("evaluator", "message"), [
    (tt.evaluators.Mixed(tt.evaluators.Uniform()), "rollouts or by the game's heuristic"),
    (tt.Rollout(count=3), "by one rollout"),
    (tt.Rollout("mast"), "by one rollout"),
    (tt.evaluators.Heuristic(), "which Auction lacks"),
    (tt.Rollout(depth=3), "which Auction lacks"),
])  # fmt: skip
def test_an_evaluation_that_information_sets_cannot_use_is_refused(evaluator, message):
    with pytest.raises(tt.errors.ConfigError, match=message):
        tt.Search(Auction, evaluator=evaluator)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"max_nodes": 8}, "max_nodes must be at least 16"), ({"expand_after": 3}, "does not work with expand_after")],
)
def test_settings_that_information_sets_cannot_use_are_refused(options, message):
    with pytest.raises(tt.errors.ConfigError, match=message):
        tt.Search(Auction, tt.uct(**options))
