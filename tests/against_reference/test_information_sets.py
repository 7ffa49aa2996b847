"""Information-set search against the plain one: the same views, and in each the same visits, sums, availability, regrets and strategies."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.against_reference.hidden import Duel, Whisper
from tests.against_reference.twins import settings_of
from tests.all_kinds import Aim, matching_pennies
from tests.chancy_games import Mine, Race
from treetop.compiler.rng import STEP, mix
from treetop.reference.information_sets import InformationSetSearch

_WORD = 2**64 - 1


def key_of(seen):
    """The compiled search's key of a view."""
    mover, what = seen
    if isinstance(what, tuple):
        way = 0
        for action in what:
            way = mix(way ^ ((action + 1) * STEP & _WORD))
        what = way
    return mix((what & _WORD) ^ ((mover + 1) * STEP & _WORD))


def compare_views(position, config, *, simulations=400, seed=3, player=None, evaluator=None):
    search = tt.Search(position, config, seed=seed, player=player, evaluator=evaluator)
    search.run(tt.Limit(simulations=simulations))
    search.tree.check()
    twin = InformationSetSearch(search.position, settings_of(search), seed, search.player)
    twin.run(simulations)
    same_views(search, twin)
    return search, twin


def same_views(search, twin):
    tree, size = search.tree, search.tree.size
    columns = tree.columns
    assert tree.root_visits == twin.visits
    assert tree.totals.tolist() == twin.totals
    found = {int(key): index for index, key in enumerate(columns.keys[:size]) if key}
    expected = {key_of(seen): view for seen, view in twin.information_sets.items()}
    assert set(found) == set(expected)
    for key, index in found.items():
        view, link = expected[key], columns.links[index]
        assert columns.stats["visits"][index] == view.visits
        block = slice(int(link["first_child"]), int(link["first_child"]) + int(link["num_children"]))
        assert columns.links["action"][block].tolist() == [choice.action for choice in view.choices]
        assert columns.stats["visits"][block].tolist() == [choice.visits for choice in view.choices]
        assert columns.stats["value_sum"][block].tolist() == [choice.total for choice in view.choices]
        assert columns.available[block].tolist() == [choice.available for choice in view.choices]
        if len(columns.regrets):
            assert columns.regrets[block].tolist() == pytest.approx(
                [choice.regret for choice in view.choices], rel=1e-9, abs=1e-9
            )
            assert columns.strategies[block].tolist() == pytest.approx(
                [choice.strategy for choice in view.choices], rel=1e-9, abs=1e-9
            )
        if any(choice.vector for choice in view.choices):
            assert columns.action_values[block].tolist() == [choice.vector for choice in view.choices]


def dealt(name, seed=1, moves=0):
    """A position in which somebody has to choose."""
    rng = tt.Rng(seed)
    position = tt.Position(tt.load_game(name)).resolve_chance(rng)
    for _ in range(moves):
        position = position.apply(position.sample_action(rng)).resolve_chance(rng)
    return position


POSITIONS = {
    "kuhn": dealt("kuhn_poker"), "leduc": dealt("leduc_poker", moves=1), "pennies": matching_pennies(3),
    "goofspiel": dealt("goofspiel(cards=4)", moves=1), "duel": dealt(Duel), "later duel": dealt(Duel, moves=2),
}  # fmt: skip
RULES = [
    tt.uct(),
    tt.puct(),
    tt.puct(c=0.7),
    tt.rules.uniform(),
    tt.regret_matching(),
    tt.uct(c=0.4, tie_break="first"),
]


@pytest.mark.parametrize("config", RULES, ids=str)
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS.keys())
def test_every_rule_sees_the_same(position, config):
    compare_views(position, config)


@pytest.mark.parametrize(
    "config", [tt.uct(), tt.puct(normalise=True), tt.uct(discount=0.8), tt.rules.uniform()], ids=str
)
@pytest.mark.parametrize("name", ["kuhn", "leduc", "duel"])
def test_one_observer_sees_the_same(name, config):
    compare_views(POSITIONS[name], config.with_options(observers="single"))


@pytest.mark.parametrize(
    "config",
    [
        tt.uct(normalise=False),
        tt.uct(discount=0.7),
        tt.regret_matching(discount=0.7, regret_mix=0.5),
        tt.puct(normalise=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("player", [0, 1])
def test_whichever_simultaneous_mover_searches_sees_the_same(player, config):
    for name in ("pennies", "goofspiel", "duel"):
        compare_views(POSITIONS[name], config, player=player)


@pytest.mark.parametrize(
    "evaluator", [tt.evaluators.Uniform(), tt.evaluators.Heuristic(), tt.Rollout(depth=1)], ids=str
)
def test_evaluations_agree(evaluator):
    compare_views(POSITIONS["duel"], tt.uct(discount=0.9), evaluator=evaluator)


@pytest.mark.parametrize(
    "config",
    [tt.uct(c=0.3), tt.uct(widening=1.0, widening_power=0.3), tt.puct(widening=3.0), tt.rules.uniform()],
    ids=str,
)
def test_drawn_continuous_actions_are_the_same(config):
    compare_views(Aim, config, simulations=600)
    compare_views(tt.Position(Aim).apply((0.3, 0.5)), config)


WINDY = "pendulum(horizon=4, wind=1.0)"


@pytest.mark.parametrize(
    "config",
    [
        tt.uct(),
        tt.uct(chance_widening=1.0),
        tt.puct(widening=1.0, chance_widening=3.0, widening_power=0.3),
        tt.uct(chance="open_loop"),
    ],
    ids=str,
)
def test_double_widening_and_open_loops_are_the_same(config):
    compare_views(WINDY, config, simulations=600)
    compare_views(dealt(WINDY, moves=2), config)


@pytest.mark.parametrize("config", [tt.uct(), tt.puct(c=0.7), tt.rules.uniform()], ids=str)
@pytest.mark.parametrize("game", [Race, Mine], ids=["race", "mine"])
def test_open_loops_in_games_of_chance_are_the_same(game, config):
    compare_views(dealt(game), config.with_options(chance="open_loop", stop_when_forced=False))
    compare_views(dealt(game, moves=2), config.with_options(chance="open_loop", stop_when_forced=False))


@pytest.mark.parametrize("config", [tt.uct(observers="single"), tt.puct(observers="single"), tt.uct()], ids=str)
def test_an_information_set_that_one_simulation_comes_to_several_times_counts_each_choice(config):
    compare_views(Whisper, config, simulations=1000)
