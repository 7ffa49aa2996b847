"""Determinised ensembles: many deals, each searched with open cards, added up at the root."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from treetop.game import CHANCE

DEALS = tt.uct(information="determinizations", determinizations=8)


@tt.game(players=1, num_actions=4, max_length=3, rewards=(-1, 1), num_outcomes=2)
class Guess:
    """A coin is thrown under a cup. Take 0.4 and go, or guess: 1 if it was right, -1 if not. The player sees nothing before the end."""

    coin = tt.field("i1")
    stage = tt.field("i1")  # 0 the throw, 1 go or stay, 2 the guess, 3 the end
    worth = tt.field("f8")

    def reset(self):
        self.coin = 0
        self.stage = 0
        self.worth = 0.0

    def current_player(self):
        return CHANCE if self.stage == 0 else 0

    def chance_outcomes(self, actions, probabilities):
        for side in range(2):
            actions[side] = side
            probabilities[side] = 0.5
        return 2

    def legal_actions(self, out):
        first = 0 if self.stage == 1 else 2
        out[0] = first
        out[1] = first + 1
        return 2

    def apply(self, action):
        if self.stage == 0:
            self.coin = action
        elif action == 0:
            self.worth = 0.4
            self.stage = 2
        elif action >= 2:
            self.worth = 1.0 if action - 2 == self.coin else -1.0
        self.stage += 1

    def is_terminal(self):
        return self.stage == 3

    def rewards(self, out):
        out[0] = self.worth

    def determinize(self, player, rng):
        self.coin = rng.below(2)

    def information(self, player):
        return 4 * self.stage + (2 if self.worth > 0.0 else 1 if self.worth < 0.0 else 0)


def dealt(name, seed=1):
    return tt.Position(tt.load_game(name)).resolve_chance(tt.Rng(seed))


def facing_a_bet(cards):
    """Kuhn poker: player 0 holds the first card, player 1 the second and bets."""
    return tt.Position(tt.load_game("kuhn_poker")).play([*cards, 0, 1])


def test_the_root_is_the_sum_of_all_determinizations():
    search = tt.Search(dealt("leduc_poker"), DEALS, seed=4)
    result = search.run(tt.Limit(simulations=1003))
    search.tree.check()
    deals = search._driver.drivers
    assert len(deals) == 8
    assert sorted({deal.tree.root_visits for deal in deals}) == [125, 126]
    assert result.root_visits == 1003
    for child in search.tree.root.children:
        each = [deal.tree.root.child(child.action) for deal in deals]
        assert child.visits == sum(other.visits for other in each)
        assert child.value_sum == pytest.approx(sum(other.value_sum for other in each))
    assert search.tree.totals.tolist() == pytest.approx(np.sum([deal.tree.totals for deal in deals], axis=0).tolist())


def test_every_determinization_is_in_the_information_set():
    position = dealt("leduc_poker", seed=5)
    search = tt.Search(position, DEALS, seed=4)
    seen = position.state.information(position.player)
    assert {deal.position.state.information(position.player) for deal in search._driver.drivers} == {seen}
    assert len({deal.position.state.information(1 - position.player) for deal in search._driver.drivers}) > 1


def test_two_deals_in_one_information_set_give_the_same_search_over_determinizations():
    ours, theirs = (
        tt.Search(facing_a_bet(cards), DEALS, seed=3).run(tt.Limit(simulations=400)) for cards in ((1, 0), (1, 2))
    )
    assert ours.counts.tolist() == theirs.counts.tolist()
    assert ours.totals.tolist() == theirs.totals.tolist()


def test_however_it_is_cut_into_runs_no_determinization_is_ahead_and_the_sums_are_the_same():
    whole, pieces = (tt.Search(dealt("leduc_poker"), DEALS, seed=9) for _ in range(2))
    whole.run(tt.Limit(simulations=600))
    for size in (1, 2, 97, 500):
        pieces.run(tt.Limit(simulations=size))
    assert pieces.result().counts.tolist() == whole.result().counts.tolist()
    assert pieces.result().totals.tolist() == whole.result().totals.tolist()


def test_the_best_card_never_folds_and_the_worst_never_calls():
    king, jack = (
        tt.Search(facing_a_bet(cards), tt.uct(information="determinizations"), seed=1).run(tt.Limit(simulations=3000))
        for cards in ((2, 0), (0, 2))
    )
    assert king.move != jack.move
    assert king.value == pytest.approx(2.0, abs=0.3)
    assert jack.value == pytest.approx(-1.0, abs=0.3)


def test_a_search_over_determinizations_believes_that_it_will_know_what_it_never_will_and_an_honest_one_does_not():
    position = dealt(Guess)
    fused = tt.Search(position, DEALS, seed=2).run(tt.Limit(simulations=2000))
    honest = tt.Search(position, tt.uct(c=0.7), seed=2).run(tt.Limit(simulations=2000))
    assert fused.action == 1
    assert fused.means[1] > 0.8
    assert honest.action == 0
    assert honest.means[1] < 0.4


def test_a_search_over_determinizations_begins_anew_with_each_move():
    search = tt.Search(dealt("leduc_poker"), DEALS, seed=4)
    search.run(tt.Limit(simulations=200))
    search.advance(search.result().action)
    assert search.simulations == 0
    assert search.run(tt.Limit(simulations=100)).root_visits == 100


def test_a_limit_of_nodes_counts_those_of_all_determinizations():
    search = tt.Search(dealt("leduc_poker"), DEALS, seed=4)
    search.run(tt.Limit(nodes=2000))
    assert 2000 <= search._driver.node_count < 20_000
    assert search.result().usage.nodes == sum(deal.tree.size for deal in search._driver.drivers)


def test_players_and_matches_take_determinizations():
    report = tt.evaluate(
        "kuhn_poker",
        "uct(simulations=50, information='determinizations', determinizations=4)",
        games=6,
        seed=1,
        workers=1,
    )
    assert report.scores[0].games == 6
    assert report.scores[0].forfeits == 0


@pytest.mark.parametrize(("config", "message"), [
    (DEALS.with_options(solver=True), "does not work with solver"), (tt.rules.halving(information="determinizations"), "not with root='halving'"), (tt.rave(information="determinizations"), "'rave'"),
    (tt.uct(information="determinizations", backup="max"), "backup"), (tt.regret_matching(information="determinizations"), "'regret_matching'"),
])  # fmt: skip
def test_what_makes_no_sense_over_determinizations_is_refused(config, message):
    with pytest.raises(tt.errors.ConfigError, match=message):
        tt.Search(dealt("kuhn_poker"), config)


def test_determinizations_are_a_whole_number_of_at_least_one():
    with pytest.raises(tt.errors.ConfigError, match="determinizations must be a whole number of at least 1"):
        tt.uct(information="determinizations", determinizations=0)


def test_saving_and_asking_are_refused():
    search = tt.Search(dealt("kuhn_poker"), DEALS, seed=1)
    search.run(tt.Limit(simulations=50))
    with pytest.raises(tt.errors.SearchError, match="only a search of one tree"):
        search.save("nowhere")
    with pytest.raises(tt.errors.ConfigError, match="information='determinizations'"):
        search.ask(4)
