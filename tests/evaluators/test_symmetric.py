"""A network averaged over symmetries of its game."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt

pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install -e '.[onnx]'")

from treetop.errors import ConfigError
from treetop.evaluators.networks.model import Model
from treetop.evaluators.networks.symmetric import Symmetric
from treetop.players.net import net_evaluator
from treetop.search.states import transformed


def leaves(game, seed=1):
    """A batch of positions of random games."""
    pool = tt.SearchPool(game, slots=8, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        legal = pool.batch().legal_mask
        pool.advance(np.where(legal, rng.random(legal.shape), -1.0).argmax(axis=1))
    return pool.batch()


def test_both_reflections_of_connect_four_count_the_same():
    game = tt.load_game("connect_four")
    model = Model.untrained(game, "tiny", seed=3)
    batch = leaves(game)
    logits, values = Symmetric(model).evaluate(batch)
    own, worth = model.evaluate(batch)
    mirrored, places = transformed(game, batch.states, np.ones(len(batch)))
    other, reflected = model.run(tt.states.observations(game, mirrored))
    assert places[0].tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert logits == pytest.approx((own + other[:, ::-1]) / 2, abs=1e-5)
    assert values == pytest.approx((worth + model.scaled(reflected, batch.players)) / 2, abs=1e-6)


@pytest.mark.parametrize("most", [1, 2, 8])
def test_with_all_symmetries_a_position_and_its_reflections_have_one_evaluation(most):
    game = tt.load_game("gomoku(size=5, line=4)")
    model = Symmetric(Model.untrained(game, "tiny", seed=3), most)
    batch = leaves(game)
    _, values = model.evaluate(batch)
    spread = 0.0
    for symmetry in range(1, 8):
        states, _ = transformed(game, batch.states, np.full(len(batch), symmetry))
        pool = tt.SearchPool(game, slots=len(batch), seed=1)
        for slot in range(len(batch)):
            pool.replace(slot, tt.Position(game, states[slot : slot + 1]))
        spread = max(spread, float(np.abs(model.evaluate(pool.batch())[1] - values).max()))
    assert (spread < 1e-5) == (most == 8)


def test_a_game_without_symmetries_is_refused_and_played_by_the_network_alone():
    model = Model.untrained(tt.load_game("nim"), "tiny")
    with pytest.raises(ConfigError, match="no symmetries"):
        Symmetric(model)
    assert net_evaluator(model) is model
    with pytest.raises(ConfigError, match="symmetries must be"):
        net_evaluator(Model.untrained(tt.load_game("connect_four"), "tiny"), symmetries="yes")


def test_time_limits_leave_symmetries_out():
    model = Model.untrained(tt.load_game("connect_four"), "tiny")
    assert isinstance(net_evaluator(model), Symmetric)
    assert net_evaluator(model, timed=True) is model
    assert net_evaluator(model, symmetries=False) is model
