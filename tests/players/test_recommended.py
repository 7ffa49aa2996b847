"""Recommended players: each bundled game has one that can be made, with its strength or the words "not measured"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import treetop as tt
from tests.own_games import Climb
from treetop.game.registry import BUNDLED, load_game
from treetop.games import RECOMMENDED
from treetop.players.rules import parse_rule, recommended_rule
from treetop.players.spec import make_player
from treetop.search.evaluator import make_evaluator


def test_every_bundled_game_has_one_entry():
    assert list(RECOMMENDED) == sorted(BUNDLED)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_player_can_be_made_and_its_strength_has_a_command(name):
    entry = RECOMMENDED[name]
    assert tt.players.recommended(name) == entry.player
    assert make_player(entry.player, load_game(name)).name == entry.player
    assert (entry.strength == "not measured") == (entry.command is None)


def test_parameters_do_not_change_the_recommendation_and_own_games_have_none():
    assert tt.players.recommended("hex(size=7)") == RECOMMENDED["hex"].player
    with pytest.raises(tt.errors.ConfigError, match="is not a bundled game, so it has no recommended player"):
        tt.players.recommended(Climb)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_rule_of_a_search_is_that_of_the_player(name):
    game = load_game(name)
    config, evaluator = parse_rule(recommended_rule(game, None), None)
    player = make_player(RECOMMENDED[name].player, game)
    assert config.for_play() == player.config
    assert str(evaluator if evaluator is None else make_evaluator(evaluator)) == str(player.evaluator)


def test_what_is_given_replaces_what_is_recommended():
    game = load_game("scoundrel")
    assert recommended_rule(game, "puct", c=None) is None
    assert recommended_rule(game, None, c=1.0, evaluator="rollout", final=None) == "uct(expand_after=15)"


def test_the_library_itself_searches_with_its_own_defaults():
    assert tt.Search("hex(size=7)").config == tt.uct()


def test_a_recommended_search_has_the_settings_of_the_command_line():
    for name in ("othello", "twenty48", "connect_four"):
        game = tt.load_game(name)
        config, evaluator = parse_rule(recommended_rule(game, None), None)
        start = tt.position(game).resolve_chance(1)
        search = tt.players.recommended_search(start, seed=3)
        assert search.config == config
        assert str(search.evaluator) == str(make_evaluator(evaluator))
        assert search.position == start
    with pytest.raises(tt.errors.ConfigError, match="is not a bundled game"):
        tt.players.recommended_search(Climb)


def test_strengths_of_the_measured_options_are_those_of_the_page_with_both_figures():
    page = (Path(__file__).resolve().parents[2] / "docs" / "measured.md").read_text(encoding="utf-8").replace("**", "")
    for name, entry in RECOMMENDED.items():
        if entry.command is not None and "measure_options" in entry.command:
            figures = re.findall(r"[+-]\d+ \([+-]\d+ to [+-]\d+\)", entry.strength)
            assert len(figures) == 2, name
            assert any(all(figure in row for figure in figures) for row in page.splitlines()), name
