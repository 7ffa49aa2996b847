"""Memory and failures where chance decides and where players see views: nothing is written past the room, nothing is lost, and the tree stays whole."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.against_reference.chancy import Market
from tests.against_reference.games import THREE_NIM
from tests.all_kinds import Aim
from tests.chancy_games import Mine, Race
from tests.own_games import start
from tests.search.fragile_games import Auction, Dice, Loan
from treetop.tree.layout import BOUNDED, PROVEN

pytestmark = pytest.mark.usefixtures("untried")


def images(search):
    """All that a tree holds, to the last bit."""
    tree, size = search.tree, search.tree.size
    names = [name for name in tree.columns._fields if len(getattr(tree.columns, name))]
    held = {name: getattr(tree.columns, name)[:size].copy() for name in names}
    for name, flag in (("bounds", BOUNDED), ("distances", PROVEN)):
        if name in held:
            held[name][(tree.columns.links["flags"][:size] & flag) == 0] = 0  # nobody has written there
    return {name: column.tolist() for name, column in held.items()} | {"totals": tree.totals.tolist()}


def in_slices(game, config, evaluator=None, *, slices=20, size=50):
    """A search that was never told how long it would be: its room grows in the middle of simulations."""
    search = tt.Search(game, config, evaluator=evaluator, seed=4)
    search.prepare()
    for _ in range(slices):
        search._driver.run(size)
        assert search.tree.size <= search.tree.columns.capacity
    return search


@pytest.mark.parametrize("options", [{}, {"expand_after": 0}, {"expand_after": 0, "max_nodes": 60}])
def test_a_leaf_that_follows_outcomes_of_chance_has_room(options):
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


@pytest.mark.parametrize("config", [tt.uct(), tt.puct(), tt.regret_matching()], ids=str)
def test_a_search_over_views_in_slices_is_the_same_search(config):
    position = tt.position("goofspiel").resolve_chance(tt.Rng(1))
    pieces = in_slices(position, config, slices=40, size=100)
    whole = tt.Search(position, config, seed=4)
    whole.run(tt.Limit(simulations=4000))
    assert pieces.tree.columns.capacity != whole.tree.columns.capacity
    assert images(pieces) == images(whole)


@pytest.mark.parametrize("config", [tt.uct(), tt.uct(chance_widening=1.0)], ids=str)
def test_a_search_that_draws_actions_in_slices_is_the_same_search(config):
    pieces = in_slices("pendulum(horizon=4, wind=1.0)", config, slices=40, size=25)
    whole = tt.Search("pendulum(horizon=4, wind=1.0)", config, seed=4)
    whole.run(tt.Limit(simulations=1000))
    assert pieces.tree.columns.capacity != whole.tree.columns.capacity
    assert pieces.tree.totals.tolist() == whole.tree.totals.tolist()
    assert pieces.result().counts.tolist() == whole.result().counts.tolist()


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
    told = 0
    while batch := search.ask(16, tt.Limit(simulations=600)):
        before = search.simulations
        search.tell(batch, np.zeros((len(batch), 2)), np.full((len(batch), 1), 20.0))
        assert search.simulations == before + len(batch)
        told += len(batch)
    search.tree.check()
    assert search.simulations == 600


@pytest.mark.parametrize("config", [tt.uct(), tt.uct(discount=0.9), tt.puct(normalise=True)], ids=str)
def test_a_search_takes_what_it_is_told_and_rolls_nothing_out_itself(config):
    search = tt.Search("tic_tac_toe", config, seed=2)
    for _ in range(30):
        batch = search.ask(1)
        search.tell(batch, np.zeros((1, 9)), np.array([[0.25, -0.25]]))
    assert search.result().values[0] == pytest.approx(0.25, abs=0.15)
    assert search.result().values[0] > 0.1


def test_a_game_that_fails_after_a_die_leaves_the_tree_whole():
    search = tt.Search(start(Dice, fails=True), tt.uct(max_nodes=200), seed=3)
    with pytest.raises(tt.errors.GameError, match="the bank is empty") as told:
        search.run(tt.Limit(simulations=5000))
    assert "fragile_games.py" in str(told.value)
    search.tree.check()
    held = search.simulations
    assert search.result().root_visits == held > 0
    with pytest.raises(tt.errors.GameError, match="the bank is empty"):
        search.run(tt.Limit(simulations=5000))
    search.tree.check()


def test_a_batch_that_fails_tells_its_own_moves():
    search = tt.Search(start(Dice, fails=True), tt.puct(c=1.0), seed=3)

    def ask_and_tell():
        while batch := search.ask(8, tt.Limit(simulations=5000)):
            search.tell(batch, np.zeros((len(batch), 2)), np.zeros((len(batch), 1)))

    with pytest.raises(tt.errors.GameError, match="the bank is empty") as told:
        ask_and_tell()
    assert "after the moves" in str(told.value)
    search.tree.check()


@pytest.mark.parametrize("config", [tt.uct(c=20.0), tt.regret_matching()], ids=str)
def test_a_game_that_fails_when_all_choose_at_once_leaves_the_views_whole(config):
    search = tt.Search(Auction, config, seed=5)
    with pytest.raises(tt.errors.GameError, match="too loud") as told:
        search.run(tt.Limit(simulations=50_000))
    assert "fragile_games.py" in str(told.value)
    search.tree.check()
    children = [child.visits for child in search.tree.root.children]
    assert sum(children) == search.simulations - 1


def test_a_game_that_fails_while_drawing_real_numbers_leaves_no_action_behind():
    search = tt.Search(start(Aim, sore=True), tt.uct(), seed=6)
    with pytest.raises(tt.errors.GameError, match="a sore arm"):
        search.run(tt.Limit(simulations=50_000))
    search.tree.check()
    links = search.tree.columns.links[: search.tree.size]
    for view in np.flatnonzero(search.tree.columns.keys[: search.tree.size]):
        values = search.tree.columns.action_values[links["first_child"][view] :][: links["num_children"][view]]
        assert np.all(np.abs(values) <= 1.0)


def test_a_view_never_holds_more_drawn_actions_than_there_is_room_for():
    search = tt.Search(Aim, tt.uct(widening=1000.0, widening_power=1.0), seed=7)
    search.prepare()
    work = search._driver.scratch.work
    search._driver.scratch.replace(tied=work.tied[:50].copy(), scores=work.scores[:50].copy())
    search.run(tt.Limit(simulations=3000))
    search.tree.check()
    assert search.tree.columns.links["num_children"][: search.tree.size].max() == 50


def test_a_full_tree_of_views_counts_only_choices_that_were_made():
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


# What a search over views is refused.


@pytest.mark.parametrize(("evaluator", "told"), [
    (tt.evaluators.Mixed(tt.evaluators.Uniform()), "rollouts or by the game's heuristic"),
    (tt.Rollout(count=3), "by one rollout"),
    (tt.Rollout("mast"), "by one rollout"),
    (tt.evaluators.Heuristic(), "which Auction lacks"),
    (tt.Rollout(depth=3), "which Auction lacks"),
])  # fmt: skip
def test_an_evaluation_that_views_cannot_use_is_refused(evaluator, told):
    with pytest.raises(tt.errors.ConfigError, match=told):
        tt.Search(Auction, evaluator=evaluator)


@pytest.mark.parametrize(
    ("options", "told"),
    [({"max_nodes": 8}, "max_nodes must be at least 16"), ({"expand_after": 3}, "does not work with expand_after")],
)
def test_settings_that_views_cannot_use_are_refused(options, told):
    with pytest.raises(tt.errors.ConfigError, match=told):
        tt.Search(Auction, tt.uct(**options))
