"""The worked numbers of the field's texts, recomputed, through the public API."""

from __future__ import annotations

import math

import pytest

import treetop as tt
from tests.chancy_games import Mine

ROOT_2 = math.sqrt(2)


def scores(config, statistics, **options):
    message = tt.explain(config, statistics, **options)
    return message, [row.score for row in message.rows]


def test_ucb1_example_with_three_moves():
    message, found = scores(tt.uct(c=ROOT_2), {"A": (50, 40 / 50), "B": (10, 6 / 10), "C": (40, 20 / 40)})
    assert found == pytest.approx([1.229193, 1.559705, 0.979853], abs=1e-6)
    assert message.selected == "B"


def test_puct_example_with_three_priors():
    message, found = scores(tt.puct(c=1.0), {"A": (50, 0.8, 0.4), "B": (10, 0.6, 0.1), "C": (40, 0.5, 0.5)})
    assert found == pytest.approx([0.878431, 0.690909, 0.621951], abs=1e-6)
    assert message.selected == "A"


def test_a_neglected_move_wins_until_it_was_tried_often_enough():
    message, found = scores(tt.uct(c=ROOT_2), {"A": (50, 0.8), "B": (5, 0.5)}, visits=100)
    assert found == pytest.approx([1.229193, 1.857228], abs=1e-6)
    assert message.selected == "B"

    def last_win(total):
        return next(
            n
            for n in range(5, 100)
            if tt.explain(tt.uct(c=ROOT_2), {"A": (50, 0.8), "B": (n, 0.5)}, visits=total(n)).selected == "A"
        )

    assert last_win(lambda n: 100) == 18
    assert last_win(lambda n: 50 + n) == 17


@pytest.mark.parametrize(
    ("total", "visits", "bonus"), [(100, 10, 0.959560), (100, 5, 1.357023), (1000, 40, 0.587608), (1000, 400, 0.185818)]
)
def test_exploration_terms(total, visits, bonus):
    message = tt.explain(tt.uct(c=1.414), {"move": (visits, 0.0)}, visits=total)
    assert message["move"].exploration == pytest.approx(bonus, abs=1e-6)


def test_values_outside_of_zero_to_one():
    message, found = scores(tt.uct(c=1.414), {"B": (40, 7.0), "C": (30, 6.0), "D": (30, 8.0)})
    assert found == pytest.approx([7.479780, 6.554002, 8.554002], abs=1e-6)
    assert message.selected == "D"
    message, found = scores(tt.uct(c=1.414), {"potion": (25, 6.0), "weapon": (50, 8.0), "monster": (25, 4.0)})
    assert found == pytest.approx([6.606879, 8.429128, 4.606879], abs=1e-6)
    assert message.selected == "weapon"


@pytest.mark.parametrize(
    ("visits", "c"), [(1, 1.2501), (100, 1.2551), (800, 1.2900), (10_000, 1.6614), (100_000, 3.0564)]
)
def test_alphazeros_schedule(visits, c):
    message = tt.explain(tt.puct(), {"move": (0, None, 1.0)}, visits=visits)
    assert message["move"].exploration / math.sqrt(visits) == pytest.approx(c, abs=5e-5)


def test_an_untried_move_is_infinite_for_ucb1_and_finite_for_puct():
    assert tt.explain(tt.uct(), {"A": (3, 1.0), "B": (0, None)}).selected == "B"
    assert tt.explain(tt.uct(), {"A": (3, 1.0), "B": (0, None)})["B"].score == math.inf
    assert math.isfinite(tt.explain(tt.puct(), {"A": (3, 1.0, 0.9), "B": (0, None, 0.1)})["B"].score)


def test_the_first_descent_counts_as_one_visit():
    message = tt.explain(tt.puct(c=2.0), {"A": (0, None, 0.75), "B": (0, None, 0.25)})
    assert message["A"].score == pytest.approx(1.5)
    assert message.selected == "A"


def test_explain_of_a_search_gives_the_scores_that_it_follows():
    for config in (tt.uct(), tt.puct(c=1.3), tt.puct()):
        search = tt.Search("connect_four", config, seed=3)
        search.run(tt.Limit(simulations=500))
        message = search.result().explain()
        before = search.result().visits
        search.run(tt.Limit(simulations=1))
        grown = [action for action, visits in search.result().visits.items() if visits > before[action]]
        assert [search.position.move_text(action) for action in grown] == [message.selected]


@pytest.mark.parametrize("config", [
    tt.uct(), tt.uct(c=0.3), tt.puct(c=1.0), tt.puct(c=0.4, fpu="parent"), tt.configure("ucb1_tuned"), tt.configure("ucb_v", c=0.1),
], ids=str)  # fmt: skip
def test_where_values_are_normalised_the_scores_are_those_that_the_search_follows(config):
    search = tt.Search(Mine, config.with_options(tie_break="first"), seed=2)
    assert search._driver.plan.normalise
    for simulations in (40, 1, 200, 1, 1, 900, 1, 1):
        before = search.run(tt.Limit(simulations=simulations))
        explanation = before.explain()
        assert "on the scale from" in explanation.rule
        assert any(row.value is not None and row.value > 1 for row in explanation.rows)
        after = search.run(tt.Limit(simulations=1))
        grown = [
            move
            for move, count in zip(before.position.legal_moves(), after.counts - before.counts, strict=True)
            if count
        ]
        assert grown == [explanation.selected]


def test_statistics_that_make_no_sense_are_refused():
    for bad in ({}, {"A": (-1, 0.0)}, {"A": (5, None)}, {"A": 5}, {"A": (1, 2, 3, 4, 5, 6, 7)}):
        with pytest.raises(tt.errors.ConfigError):
            tt.explain(tt.uct(), bad)
    with pytest.raises(tt.errors.ConfigError):
        tt.explain(tt.uct(), {"A": (1, 0.0)}, visits=-3)
    with pytest.raises(KeyError, match="there are A"):
        tt.explain(tt.uct(), {"A": (1, 0.0)})["Z"]


def test_moves_that_widening_has_not_opened_are_not_searched_next():
    search = tt.Search("tic_tac_toe", tt.uct(widening=1.0), seed=1)
    for _ in range(20):
        explained = search.run(tt.Limit(simulations=1)).explain()
        before = search.result().visits
        following = search.run(tt.Limit(simulations=1)).visits
        searched = [action for action in following if following[action] > before[action]]
        if search.simulations > 3 and searched and not math.isinf(explained[explained.selected].score):
            assert search.position.move_text(searched[0]) == explained.selected
        assert not next(row for row in explained.rows if row.move == explained.selected).unopened
    assert any(row.unopened for row in explained.rows)
    assert "unopened" in str(explained)


def test_an_explanation_is_shown_in_notebooks_as_its_table_and_lines():
    explanation = tt.search("tic_tac_toe", simulations=100).explain()
    shown = explanation._repr_html_()
    assert shown.count("<tr") == 1 + 9
    assert "searched next: " in shown
    assert f"played: {explanation.chosen}, because" in shown
