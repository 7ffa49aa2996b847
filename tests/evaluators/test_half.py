"""Networks in bfloat16, for self-play."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

import treetop as tt
from treetop.evaluators.networks.half import HalfSession
from treetop.evaluators.networks.model import Model
from treetop.evaluators.networks.places import policy_places

GAME = tt.load_game("connect_four")


@pytest.mark.parametrize(("game", "outcomes"), [("connect_four", False), ("connect_four", True), ("xiangqi", False)])
def test_bfloat16_agrees_with_onnxruntime_but_for_rounding(game, outcomes):
    model = Model.untrained(tt.load_game(game), "small", outcomes=outcomes)
    observations = np.random.default_rng(1).integers(0, 2, (8, *model.architecture.observation)).astype(np.float32)
    places = policy_places(model.game)
    found = HalfSession(model.architecture, model.weights, places).run(None, {"observations": observations})
    for one, other in zip(found, model._session.run(None, {"observations": observations}), strict=True):
        assert one.dtype == other.dtype == np.float32
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, atol=0.05)


def test_only_self_play_runs_in_bfloat16_and_only_where_it_is_faster(monkeypatch):
    wide, narrow = Model.untrained(GAME, "small"), Model.untrained(GAME, "tiny")
    assert narrow.for_self_play() is narrow
    monkeypatch.setattr("treetop.evaluators.networks.model.is_faster_in_half", lambda _: True)
    assert isinstance(wide.for_self_play()._session, HalfSession)
    assert not isinstance(wide._session, HalfSession)
