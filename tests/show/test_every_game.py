"""Results of every bundled game can be shown, and show nothing that their player does not know."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

import treetop as tt
from treetop.game.choices import first_choice
from treetop.game.registry import BUNDLED, load_game
from treetop.show.snapshot import snapshot_of

HIDDEN = sorted(name for name in BUNDLED if load_game(name).has("determinize"))


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_a_result_of_every_game_is_drawn(name):
    result = tt.search(first_choice(load_game(name), 1), simulations=40, seed=1)
    found = snapshot_of(result)
    assert found["position"]["board"]
    assert found["position"]["game"] == name
    assert found["analysis"]["move"] == result.move
    assert found["tree"]["nodes"][0]["visits"] == result.root_visits
    assert len(json.dumps(found, allow_nan=False)) < 800_000
    root = ET.fromstring(result.svg(20))
    assert len([one for one in root.iter() if one.get("class") == "node"]) == min(20, len(found["tree"]["nodes"]))
    assert result.dot(20).count(" -> ") == min(20, len(found["tree"]["nodes"])) - 1


@pytest.mark.parametrize("name", HIDDEN)
def test_a_picture_is_the_same_for_all_positions_of_an_information_set(name):
    position = first_choice(load_game(name), 3)
    shown = [_known(one) for one in (position, *(position.determinize(position.player, seed) for seed in range(4)))]
    assert all(one == shown[0] for one in shown)


def _known(position):
    """Return what is shown of a result, without the statistics, which depend on how chance falls."""
    found = snapshot_of(tt.search(position, simulations=40, seed=1))
    nodes = {(one["move"], one["parent"], str(one["player"])) for one in found["tree"]["nodes"]}
    moves = {(one["move"], tuple(one["pv"])) for one in found["analysis"]["moves"]}
    return {name: value for name, value in found["position"].items() if name != "ply"}, nodes, moves
