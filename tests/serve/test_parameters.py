"""Parameters of games, as a page offers them."""

from __future__ import annotations

import treetop as tt
from treetop.game.registry import BUNDLED
from treetop.games.gomoku import gomoku
from treetop.games.scoundrel import scoundrel
from treetop.serve.parameters import parameters_of, parameters_of_bundled


def test_ranges_and_choices_are_those_of_the_checks():
    found = {one["name"]: one for one in parameters_of(gomoku)}
    assert found["line"] == {"name": "line", "kind": "whole", "default": 5, "low": 3, "high": 15}
    rules = {one["name"]: one for one in parameters_of(scoundrel)}
    assert rules["weapon_rule"]["choices"] == ["<=", "<"]
    assert rules["clairvoyant"]["kind"] == "flag"


def test_the_bounds_of_every_bundled_family_make_games():
    for name in BUNDLED:
        for one in parameters_of_bundled(name):
            for bound in ("low", "high"):
                if bound in one and name != "gomoku":  # whose bounds depend on each other
                    assert tt.load_game(f"{name}({one['name']}={one[bound]!r})").name


def test_a_family_without_source_has_names_and_defaults_only():
    scope = {"tt": tt}
    exec("@tt.family\ndef lonely(size: int = 3): ...", scope)
    assert parameters_of(scope["lonely"]) == [{"name": "size", "kind": "whole", "default": 3}]
