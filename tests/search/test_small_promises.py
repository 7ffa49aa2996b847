"""Promises of a line each: limits, tables, JSON, what is compiled beforehand."""

from __future__ import annotations

import gc
import json
import math
import weakref

import pytest

import treetop as tt
from tests.search.own_problems import Nim
from treetop.kernels.graph import fill_table
from treetop.text import json_text


def test_a_forced_position_keeps_every_part_of_a_limit():
    forced = tt.Search(tt.position("tic_tac_toe", "a1 b1 c1 b2 a2 c2 b3 a3"), seed=1)
    with pytest.raises(tt.errors.ConfigError, match="made elsewhere"):
        forced.run(tt.Limit(cost=1.0))
    with pytest.raises(tt.errors.ConfigError, match="made elsewhere"):
        forced.run(tt.Limit(calls=1, simulations=5))
    assert tt.Search(Nim(1), seed=1)._forced(tt.Limit(cost=2.0, calls=7), elsewhere=True) == tt.Limit(
        simulations=1, cost=2.0, calls=7
    )


def test_what_fills_the_table_of_a_graph_is_prepared_with_the_rest():
    search = tt.Search("tic_tac_toe", tt.uct(transpositions=True), seed=1)
    search.prepare()
    assert search.game.engine().entry(fill_table).is_ready
    first = search.run(tt.Limit(simulations=300))
    search.prepare()
    search.tree.check((-1, 1))
    assert search.run(tt.Limit(simulations=300)).root_visits == first.root_visits + 300


def test_the_table_of_a_normalised_search_says_which_column_is_on_which_scale():
    result = tt.Search(Nim(), tt.uct(normalise=True), seed=1).run(tt.Limit(simulations=300))
    message = result.explain()
    head, _ = message.table()
    assert "scaled" in head
    for row in message.rows:
        assert row.score == pytest.approx(row.scaled + row.exploration)
        assert row.value == pytest.approx(message.scale[0] + row.scaled * (message.scale[1] - message.scale[0]))
    assert message.scale_note in str(result)
    assert message.scale_note in str(message)
    assert message.scale_note in result._repr_html_()
    assert json.loads(result.json())["explain"]["scale"] == list(message.scale)
    plain = tt.Search(Nim(), seed=1).run(tt.Limit(simulations=50)).explain()
    assert plain.scale is None
    assert "scaled" not in plain.table()[0]


def test_json_has_no_number_that_json_lacks():
    def refuse(text):
        raise AssertionError(text)

    assert (
        json_text([math.inf, (-math.inf, {"a": math.nan}), 1.5, True, None])
        == '["inf", ["-inf", {"a": null}], 1.5, true, null]'
    )
    config = tt.uct(final="temperature", temperature=math.inf)
    result = tt.Search(Nim(), config, seed=1).run(tt.Limit(simulations=50))
    assert json.loads(result.json(), parse_constant=refuse)["report"]["temperature"] == "inf"
    assert (
        json.loads(tt.search("tic_tac_toe", config, simulations=50).json(), parse_constant=refuse)["report"]["options"][
            "temperature"
        ]
        == "inf"
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: tt.Search("tic_tac_toe", seed=1),
        lambda: tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1),
        lambda: tt.Search("rock_paper_scissors", seed=1),
        lambda: tt.Search(Nim(5), seed=1),
    ],
)
def test_a_search_that_is_dropped_frees_its_tree_at_once(make):
    gc.collect()
    gc.disable()
    try:
        search = make()
        tree = weakref.ref(search.tree)
        search.run(tt.Limit(simulations=20))
        del search
        assert tree() is None
    finally:
        gc.enable()
