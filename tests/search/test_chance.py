"""Chance, immediate rewards and paranoid search, against exact values."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from tests.against_reference.chancy import Market
from tests.against_reference.games import THREE_NIM
from tests.chancy_games import Mine, Race, after, exact
from tests.own_games import ThreeNim, start
from tests.search.fragile_games import Lottery
from treetop.tree.layout import DRAWN


def state_of(game):
    return tt.Position(game).state


@pytest.mark.parametrize(
    "config", [tt.uct(c=1.0), tt.puct(c=1.0), tt.uct(c=3.0, backup="max"), tt.uct(c=0.7, normalise=True)]
)
def test_values_with_dice_are_the_exact_ones(config):
    search = tt.Search(Race, config, seed=1)
    result = search.run(tt.Limit(simulations=60_000))
    search.tree.check((-1, 1))
    assert result.value == pytest.approx(exact(state_of(Race))[0], abs=0.05)
    best = max((0, 1), key=lambda action: after(state_of(Race), action, 1.0)[0])
    assert result.action == best


def test_the_solver_proves_an_expectation():
    search = tt.Search(Race, tt.uct(c=1.0, solver=True), seed=2)
    result = search.run(tt.Limit(simulations=1_000_000))
    search.tree.check((-1, 1))
    assert result.solved
    assert result.proof.value == pytest.approx(exact(state_of(Race))[0], abs=1e-6)


@pytest.mark.parametrize("discount", [1.0, 0.8])
@pytest.mark.parametrize("options", [{"backup": "max"}, {"backup": "mean"}, {"backup": "mixed", "minimax_share": 0.5}])
def test_immediate_rewards_add_up_to_the_exact_value(discount, options):
    search = tt.Search(Mine, tt.uct(c=1.0, discount=discount, **options), seed=3)
    result = search.run(tt.Limit(simulations=100_000))
    search.tree.check()
    best = exact(state_of(Mine), discount)[0]
    assert result.value == pytest.approx(best, abs=0.3)
    assert dict(zip(result.actions.tolist(), result.means.tolist(), strict=True))[result.action] == pytest.approx(
        best, abs=0.3
    )


@pytest.mark.parametrize("chance", ["sampled", "expected", "open_loop"])
def test_the_reward_of_an_outcome_belongs_to_the_action_before_it(chance):
    result = tt.search(Mine, tt.uct(c=0.5, discount=0.5, chance=chance), simulations=40_000, seed=3)
    best = [after(state_of(Mine), action, 0.5, 0.5)[0] for action in (0, 1)]
    assert result.action == np.argmax(best)
    assert result.means[result.action] == pytest.approx(max(best), abs=0.1)


def test_the_value_of_a_move_is_discounted_also_where_only_the_end_is_rewarded():
    position = start(Race, sums=(0, 5), turns=5)  # the last throw, of a player who has won
    result = tt.search(position, tt.uct(discount=0.5), simulations=200, seed=1)
    assert result.means.tolist() == [0.5, 0.5]


def test_an_expectation_is_exact_as_soon_as_every_outcome_was_seen():
    state = state_of(Mine)
    state.day = 5  # the last one: what is dug out ends the game
    position, errors = tt.Position(Mine, state._states), dict.fromkeys(("sampled", "expected"), 0.0)
    truth = after(state, 1, 1.0)[0]
    for chance in errors:
        for seed in range(20):
            result = tt.search(position, tt.uct(c=20.0, normalise=False, chance=chance), simulations=400, seed=seed)
            errors[chance] += abs(result.means[1] - truth) / 20
    assert errors["expected"] < 1e-6 < 0.01 < errors["sampled"]


def test_nobody_evaluates_where_chance_decides():
    search = tt.Search(Race, tt.puct(c=1.0), seed=4)
    search.run(tt.Limit(simulations=3000))
    links, stats = search.tree.columns.links[: search.tree.size], search.tree.columns.stats[: search.tree.size]
    drawn = (links["flags"] & DRAWN) > 0
    assert drawn.any()
    assert not links["own"][drawn].any()
    for node in np.flatnonzero(drawn)[:20]:
        children = slice(links["first_child"][node], links["first_child"][node] + links["num_children"][node])
        assert stats["prior"][children].sum() == pytest.approx(1.0)


def test_a_search_moves_on_over_an_outcome_and_keeps_its_visits():
    search = tt.Search(Race, tt.uct(c=1.0), seed=5)
    search.run(tt.Limit(simulations=5000))
    node = search.tree.root.child(0)
    outcome = node.child(2)
    visits, value = outcome.visits, outcome.value
    search.advance(0)
    with pytest.raises(tt.errors.SearchError, match="chance decides here"):
        search.run(tt.Limit(simulations=10))
    search.advance(2)
    assert search.simulations == visits
    assert search.result().values[0] == pytest.approx(value)
    search.run(tt.Limit(simulations=500))
    search.tree.check((-1, 1))


def test_a_search_of_a_roll_is_refused():
    with pytest.raises(tt.errors.SearchError, match="chance decides here"):
        tt.Search(tt.Position(Race).apply(0))


def test_an_evaluator_in_python_sees_only_positions_in_which_somebody_chooses():
    class Middle:
        def evaluate(self, batch):
            players = [Race.view(batch.states, index).current_player() for index in range(len(batch))]
            assert all(player in (0, 1) for player in players)
            return np.zeros((len(batch), 2)), np.zeros((len(batch), 2))

    config = tt.puct(c=1.0, batch_size=1, normalise=True, expand_after=0)
    outside = tt.Search(Race, config, evaluator=Middle(), seed=6).run(tt.Limit(simulations=2000))
    inside = tt.Search(Race, config, evaluator=tt.evaluators.Uniform(), seed=6).run(tt.Limit(simulations=2000))
    assert outside.visits == inside.visits
    assert outside.value == pytest.approx(inside.value)


def test_batches_leave_nothing_in_flight_and_count_immediate_rewards():
    market = start(Market(), days=1)
    search = tt.Search(market, tt.puct(c=1.0), seed=7)
    while batch := search.ask(8, tt.Limit(simulations=20_000)):
        search.tell(batch, np.zeros((len(batch), 3)), np.zeros((len(batch), 3)))
    search.tree.check()
    assert search.result().value == pytest.approx(exact(market.state)[0], abs=0.2)


def test_a_bounded_tree_with_chance_keeps_its_bound():
    search = tt.Search(Mine, tt.uct(c=0.5, max_nodes=64), seed=8)
    search.run(tt.Limit(simulations=20_000))
    search.tree.check()
    assert search.tree.size <= 64


def test_equal_seeds_give_equal_searches_with_chance():
    first, second = (tt.Search(Mine, tt.uct(c=0.5), seed=9).run(tt.Limit(simulations=5000)) for _ in range(2))
    assert first.visits == second.visits
    assert first.totals.tolist() == second.totals.tolist()


def test_against_everybody_a_player_wins_less_than_against_players_for_themselves():
    own = tt.Search(THREE_NIM, tt.uct(c=0.5), seed=10).run(tt.Limit(simulations=30_000))
    paranoid = tt.Search(THREE_NIM, tt.uct(c=0.5, opponents="paranoid"), seed=10).run(tt.Limit(simulations=30_000))
    assert paranoid.value <= own.value + 0.05
    assert paranoid.values[1] == pytest.approx(1 - paranoid.value)


@pytest.mark.parametrize(("outcomes", "chances", "message"), [
    ((0, 1), (0.5, 0.4), "the probabilities do not sum to 1"),
    ((0, 1), (1.0, 0.0), "the probability of the outcome 1 is not above 0"),
    ((0, 7), (0.5, 0.5), "gave the outcome 7, or that many"),
])  # fmt: skip
def test_bad_probabilities_are_reported(outcomes, chances, message):
    with pytest.raises(tt.errors.GameError, match=message):
        tt.Search(start(Lottery, outcomes=outcomes, chances=chances), seed=1).run(tt.Limit(simulations=50))


@pytest.mark.parametrize(("game", "options", "message"), [
    (Race, {"transpositions": True}, "transpositions need the game's method"),
    (Mine, {"solver": True}, "there are immediate rewards"),
    (ThreeNim, {"solver": True, "opponents": "paranoid"}, "the search is paranoid"),
    (ThreeNim, {"opponents": "friendly"}, "opponents must be"),
])  # fmt: skip
def test_what_makes_no_sense_with_chance_is_refused(game, options, message):
    with pytest.raises(tt.errors.ConfigError, match=message):
        tt.Search(game, tt.uct(**options))
