"""Information-set search, against equilibria and against what nobody may know."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.all_kinds import Aim, Secret, changed, matching_pennies, rock_paper_scissors
from treetop.oracle.information import exploitability
from treetop.types import CHANCE


def strategy_table(game, strategies):
    """The probabilities in every view of a small game, by the players' own keys."""
    table = {}
    waiting = [tt.Position(tt.load_game(game))]
    while waiting:
        position = waiting.pop()
        if position.is_terminal:
            continue
        if position.player != CHANCE:
            table[int(position.state.information(position.player)) & (2**64 - 1)] = strategies.of(position)
        waiting.extend(position.apply(action) for action in position.legal_actions())
    return table


@pytest.mark.parametrize("weight", [1.0, 3, 9])
def test_regret_matching_comes_close_to_a_biased_equilibrium(weight):
    position = matching_pennies(weight)
    strategies = tt.find_strategies(position, simulations=400_000, seed=1)
    for player in (0, 1):
        assert strategies.of(position, player)[0] == pytest.approx(2 / (weight + 3), abs=0.03)


@pytest.mark.parametrize("weights", [(1.0, 2.0, 10.0), (20.0, 1.0, 4.0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_regret_matching_comes_close_to_the_equilibrium_of_a_biased_rock_paper_scissors(weights, seed):
    position, (rock, paper, scissors) = rock_paper_scissors(*weights), weights
    strategies = tt.find_strategies(position, simulations=1_000_000, seed=seed)
    exact = [scissors / sum(weights), rock / sum(weights), paper / sum(weights)]
    for player in (0, 1):
        assert list(strategies.of(position, player).values()) == pytest.approx(exact, abs=0.03)


def test_decoupled_ucb1_need_not_come_close_to_the_equilibrium():
    strategies = tt.find_strategies(matching_pennies(9), tt.uct(), simulations=400_000, seed=1)
    assert strategies.of(matching_pennies(9), 0)[0] < 2 / 12 - 0.05


def test_a_search_for_one_of_several_simultaneous_movers_draws_from_the_mixed_strategy():
    search = tt.Search(matching_pennies(3), tt.regret_matching(), seed=2, player=1)
    result = search.run(tt.Limit(simulations=100_000))
    search.tree.check()
    assert result.player == 1
    assert result.strategy()[0] == pytest.approx(1 / 3, abs=0.05)
    assert "drawn from the mixed strategy" in str(result)


def test_what_can_be_won_against_a_kuhn_strategy_falls_with_the_simulations():
    lost = [
        exploitability(
            "kuhn_poker", strategy_table("kuhn_poker", tt.find_strategies("kuhn_poker", simulations=n, seed=1))
        )
        for n in (1000, 30_000, 1_000_000)
    ]
    assert lost[0] > lost[1] > lost[2]
    assert lost[2] < 0.02


def deals(first, others):
    start = tt.Position(tt.load_game("kuhn_poker"))
    return [start.apply(first).apply(other) for other in others]


@pytest.mark.parametrize("config", [tt.uct(), tt.uct(observers="single"), tt.puct(c=1.0), tt.regret_matching()])
def test_two_deals_in_one_information_set_give_the_same_search(config):
    one, other = deals(2, (0, 1))
    assert one != other
    results = [tt.Search(position, config, seed=3).run(tt.Limit(simulations=4000)) for position in (one, other)]
    assert results[0].visits == results[1].visits
    assert results[0].values == results[1].values
    assert results[0].action == results[1].action


def test_a_search_that_sees_all_cards_is_another_one():
    one, other = deals(1, (0, 2))
    values = [
        tt.Search(position, tt.uct(information="perfect"), seed=4).run(tt.Limit(simulations=4000)).value
        for position in (one, other)
    ]
    assert values[0] > values[1] + 0.5


def test_the_best_card_is_bet_or_held_and_never_folded():
    position = deals(0, (2,))[0].apply(1)  # the other one, with the best card, is to answer a bet
    assert tt.Search(position, tt.uct(), seed=5).run(tt.Limit(simulations=2000)).action == 1


def test_equal_seeds_give_equal_searches_over_information_sets():
    results = [
        tt.Search(deals(1, (0,))[0], tt.regret_matching(), seed=6).run(tt.Limit(simulations=5000)) for _ in range(2)
    ]
    assert results[0].visits == results[1].visits
    assert results[0].strategy() == results[1].strategy()


def test_continuous_actions_are_found_near_the_best():
    search = tt.Search(Aim, tt.uct(c=0.3, widening=2.0, widening_power=0.4), seed=7)
    result = search.run(tt.Limit(simulations=60_000))
    search.tree.check()
    assert result.vector[0] == pytest.approx(0.4, abs=0.25)
    assert result.value > 1.6
    following = tt.Position(Aim).apply(result.choice)
    assert tt.Search(following, tt.uct(c=0.3), seed=8).run(tt.Limit(simulations=20_000)).vector[0] == pytest.approx(
        result.vector[0], abs=0.25
    )


def test_more_visits_draw_more_actions():
    few, many = (len(tt.Search(Aim, tt.uct(), seed=9).run(tt.Limit(simulations=n)).actions) for n in (100, 10_000))
    assert 5 < few < many < 400


def test_a_bounded_tree_of_information_sets_stops_growing_and_goes_on():
    search = tt.Search(Aim, tt.uct(max_nodes=2_000), seed=10)
    result = search.run(tt.Limit(simulations=30_000))
    search.tree.check()
    assert search.tree.size <= 2_000
    assert result.simulations == 30_000


def test_a_search_over_information_sets_moves_on():
    search = tt.Search(deals(1, (0,))[0], tt.uct(), seed=11)
    search.run(tt.Limit(simulations=500))
    search.advance(1)
    assert search.player == 1
    assert search.run(tt.Limit(simulations=500)).simulations == 500


@pytest.mark.parametrize(("config", "message"), [
    (tt.rules.grave(), "works with rule"),
    (tt.uct(solver=True), "does not work with solver"),
    (tt.uct(transpositions=True), "transpositions=True"),
    (tt.uct(widening=1.0), "leave widening out"),
    (tt.regret_matching(observers="single"), "needs observers='multiple'"),
])  # fmt: skip
def test_what_makes_no_sense_over_information_sets_is_refused(config, message):
    with pytest.raises(tt.errors.ConfigError, match=message):
        tt.Search(deals(1, (0,))[0], config)


def test_an_evaluator_in_python_is_refused_where_positions_are_not_distinguished():
    class Any:
        def evaluate(self, batch):
            raise AssertionError

    with pytest.raises(tt.errors.ConfigError, match="rollouts or by the game's heuristic"):
        tt.Search(deals(1, (0,))[0], evaluator=Any())


def test_regret_matching_is_refused_with_perfect_information():
    with pytest.raises(tt.errors.ConfigError, match="need no mixed strategy"):
        tt.Search("nim", tt.regret_matching())


def test_a_player_who_is_not_to_move_is_refused():
    with pytest.raises(tt.errors.ConfigError, match="player 0 is to move"):
        tt.Search("nim", player=1)


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("config", [tt.uct(), tt.uct(information="determinizations"), tt.regret_matching()], ids=str)
@pytest.mark.parametrize("broken", ["self.said = -1", "self.player = 1 - self.player", "self.guess = 1"])
def test_a_determinize_that_contradicts_the_information_set_is_an_error_before_anything_is_searched(broken, config):
    scope: dict[str, object] = {}
    exec(f"def determinize(self, player, rng):\n    {broken}", scope)
    game = changed(Secret, determinize=scope["determinize"])
    with pytest.raises(
        tt.errors.GameError,
        match=r"determinize\(1, rng\) changed the information, the turn or the legal actions of player 1",
    ):
        tt.Search(tt.position(game, seed=1).apply(1), config)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (tt.uct(), "simulations of information-set search (ISMCTS) in"),
        (tt.uct(information="determinizations"), "simulations of determinized search in"),
    ],
)
def test_a_printed_result_names_the_kind_of_search(config, name):
    position = tt.position("kuhn_poker", seed=1).resolve_chance(1)
    assert name in str(tt.search(position, config, simulations=50, seed=1))
