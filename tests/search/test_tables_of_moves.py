"""What a move is worth elsewhere: every simulation counts the moves that were made in it, each once, and no others."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.sketch import Drawing
from treetop.kernels.evaluate import COUNT

TWO_LEFT = "c3 a1 b1 b3 c2 c1 a3"
"""Two moves are left, whatever they are nobody wins."""


@pytest.mark.parametrize(
    "config", [tt.rave(), tt.rave(c=0.7), tt.rules.grave(amaf_reference=5), tt.rave(c=1.0, expand_after=4)], ids=str
)
def test_all_moves_as_first_counts_the_moves_of_the_simulation_itself(config):
    """The first way ends at once, the second goes on by ways of other numbers: neither is ever made later."""
    drawing = Drawing(
        {0: [1, 2], 2: [None, None, 3, 4], 3: [None, None, 5, 6]}, worth={1: 0.2, 4: 1.0, 5: -1.0, 6: 0.5}
    )
    search = tt.Search(drawing.position(), config, seed=3)
    search.run(tt.Limit(simulations=500))
    children = search.tree.root.children
    amaf = search.tree.columns.amaf
    assert [int(amaf["visits"][child.index]) for child in children] == [child.visits for child in children]
    assert [float(amaf["value_sum"][child.index]) for child in children] == pytest.approx(
        [child.value_sum for child in children]
    )


@pytest.mark.parametrize(
    ("config", "evaluator"),
    [
        (tt.rules.progressive_history(), None),
        (tt.uct(), tt.Rollout("mast")),
        (tt.uct(solver=True), tt.Rollout("mast_softmax")),
        (tt.rules.progressive_history(expand_after=3), None),
    ],
    ids=["history", "mast", "mast with a solver", "history of late trees"],
)
def test_the_table_of_past_moves_counts_each_move_of_each_simulation_once(config, evaluator):
    search = tt.Search(tt.position("tic_tac_toe", moves=TWO_LEFT), config, evaluator=evaluator, seed=3)
    for simulations in (1, 1, 5, 100):
        search.run(tt.Limit(simulations=simulations))
        if not search.solved:
            counts = search._driver.scratch.work.history[COUNT].sum(axis=1)
            assert counts.tolist() == [search.simulations, search.simulations]
