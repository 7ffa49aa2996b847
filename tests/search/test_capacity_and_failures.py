"""Memory and failures at chance nodes: nothing is written past the end of an array, nothing is lost, and the tree stays whole."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.against_reference.chancy import Market
from tests.against_reference.games import THREE_NIM
from tests.chancy_games import Mine, Race
from tests.own_games import start
from tests.search.fragile_games import Dice, Loan
from tests.search.slices import images, in_slices

pytestmark = pytest.mark.usefixtures("untried")


@pytest.mark.parametrize("options", [{}, {"expand_after": 0}, {"expand_after": 0, "max_nodes": 60}])
def test_a_leaf_that_follows_outcomes_of_chance_has_space(options):
    search = in_slices(Dice, tt.uct(**options), slices=300, size=7)
    search.tree.check()


@pytest.mark.parametrize(
    "config",
    [
        tt.uct(),
        tt.puct(expand_after=0),
        tt.rules.halving(),
        tt.uct(max_nodes=90),
        tt.uct(tie_break=lambda actions: actions[-1]),
    ],
    ids=str,
)
def test_a_search_in_slices_is_the_same_search(config):
    config = config.with_options(stop_when_forced=False)
    pieces = in_slices(Dice, config)
    whole = tt.Search(Dice, config, seed=4)
    whole.run(tt.Limit(simulations=1000))
    assert images(pieces) == images(whole)


def test_a_bounded_tree_that_cannot_hold_one_simulation_says_so():
    search = tt.Search(start(Dice, dice=6), tt.uct(max_nodes=12), seed=1)
    with pytest.raises(tt.errors.SearchError, match="max_nodes=12 is too small"):
        search.run(tt.Limit(simulations=500))
    search.tree.check()


def test_a_bounded_tree_folds_for_many_dice_in_a_row():
    search = tt.Search(start(Dice, dice=6), tt.uct(max_nodes=40), seed=1)
    search.run(tt.Limit(simulations=3000))
    search.tree.check()
    assert search.simulations == 3000
    assert search.tree.size <= 40


@pytest.mark.parametrize("options", [{}, {"max_nodes": 80}])
def test_every_evaluation_of_a_batch_is_counted_however_many_dice_were_thrown(options):
    search = tt.Search(start(Dice, dice=6), tt.puct(c=1.0, **options), seed=2)
    reported = 0
    while batch := search.ask(16, tt.Limit(simulations=600)):
        before = search.simulations
        search.tell(batch, np.zeros((len(batch), 2)), np.full((len(batch), 1), 20.0))
        assert search.simulations == before + len(batch)
        reported += len(batch)
    search.tree.check()
    assert search.simulations == 600


def test_a_game_that_fails_after_a_die_leaves_the_tree_whole():
    search = tt.Search(start(Dice, fails=True), tt.uct(max_nodes=200), seed=3)
    with pytest.raises(tt.errors.GameError, match="the bank is empty") as reported:
        search.run(tt.Limit(simulations=5000))
    assert "fragile_games.py" in str(reported.value)
    search.tree.check()
    held = search.simulations
    assert search.result().root_visits == held > 0
    with pytest.raises(tt.errors.GameError, match="the bank is empty"):
        search.run(tt.Limit(simulations=5000))
    search.tree.check()


def test_a_batch_that_fails_reports_its_own_moves():
    search = tt.Search(start(Dice, fails=True), tt.puct(c=1.0), seed=3)

    def ask_and_tell():
        while batch := search.ask(8, tt.Limit(simulations=5000)):
            search.tell(batch, np.zeros((len(batch), 2)), np.zeros((len(batch), 1)))

    with pytest.raises(tt.errors.GameError, match="the bank is empty") as reported:
        ask_and_tell()
    assert "after the moves" in str(reported.value)
    search.tree.check()


# Moving on, and files.


@pytest.mark.parametrize("discount", [1.0, 0.8])
def test_what_a_move_brought_lies_behind_once_it_is_made(discount):
    search = tt.Search(Mine, tt.uct(c=1.0, discount=discount), seed=9)
    search.run(tt.Limit(simulations=20_000))
    node = search.tree.root.child(0)
    ahead = (node.value - 1.0) / discount  # the coin is in the bag
    search.advance(0)
    assert search.result().value == pytest.approx(ahead)
    search.run(tt.Limit(simulations=100))
    assert search.result().value == pytest.approx(ahead, abs=0.5)
    search.tree.check()


def test_where_nothing_later_counts_a_move_starts_a_fresh_tree():
    search = tt.Search(Mine, tt.uct(discount=0.0), seed=9)
    search.run(tt.Limit(simulations=500))
    search.advance(0)
    assert search.simulations == 0


def test_what_was_found_against_another_player_is_not_kept():
    search = tt.Search(THREE_NIM, tt.uct(opponents="paranoid"), seed=10)
    search.run(tt.Limit(simulations=3000))
    search.advance(0)
    search.run(tt.Limit(simulations=500))
    assert search.simulations == 500
    fresh = tt.Search(search.position, tt.uct(opponents="paranoid"), seed=11)
    assert search.result().values == pytest.approx(fresh.run(tt.Limit(simulations=500)).values, abs=0.2)


def test_a_round_later_the_same_player_finds_his_tree_again():
    search = tt.Search(THREE_NIM, tt.uct(opponents="paranoid"), seed=10)
    search.run(tt.Limit(simulations=3000))
    for _ in range(3):
        search.advance(0)
    kept = search.simulations
    assert kept > 0
    search.run(tt.Limit(simulations=100))
    assert search.simulations == kept + 100


@pytest.mark.parametrize(
    ("game", "config"),
    [(Loan, tt.uct()), (Market(), tt.uct(opponents="paranoid")), (Race, tt.uct(solver=True)), (Dice, tt.puct())],
)
def test_a_saved_search_with_chance_goes_on_as_if_nothing_had_happened(tmp_path, game, config):
    search = tt.Search(game, config.with_options(stop_when_forced=False), seed=12)
    search.run(tt.Limit(simulations=700))
    search.save(tmp_path / "search.npz")
    loaded = tt.Search.load(tmp_path / "search.npz", game=game)
    assert loaded.position.record.dtype.isalignedstruct == search.position.record.dtype.isalignedstruct
    for one in (search, loaded):
        one.run(tt.Limit(simulations=300))
    assert images(loaded) == images(search)
