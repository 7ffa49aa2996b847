from __future__ import annotations

import json

import pytest

from treetop.arena.players_file import find_player, read_players
from treetop.errors import ConfigError


def test_players_are_read_by_name(tmp_path):
    file = tmp_path / "players.toml"
    file.write_text('[players]\nquick = "uct(simulations=10)"\n[players.strong]\nspec = "uct(simulations=5000)"\n')
    players = read_players(file)
    assert players == {"quick": "uct(simulations=10)", "strong": "uct(simulations=5000)"}
    assert find_player("strong", players) == ("strong", "uct(simulations=5000)")
    assert find_player("random", players) == ("random", "random")
    with pytest.raises(ConfigError, match="did you mean strong"):
        find_player("stong", players)


@pytest.mark.parametrize(("content", "words"), [
    ("", "names no players"), ("players = 3", "names no players"), ("[players.a]\nspeck = 1", "lacks its spec"),
    ('[players.a]\nspec = "random"\nelo = 3', "only spec is known"), ('[players]\na = "random"\n[games]\nb = 1', "not games"),
    ("[players", "is not TOML"), ("[players]\na = 3", "lacks its spec"),
])  # fmt: skip
def test_what_is_wrong_with_a_file_is_reported(tmp_path, content, words):
    file = tmp_path / "players.toml"
    file.write_text(content)
    with pytest.raises(ConfigError, match=words):
        read_players(file)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(ConfigError, match="there is no file"):
        read_players(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "spec", ["os:system('true')", "my_module:make", 'uci("touch x")', "gtp('x')", "cecp('x')", "gnubg(command='x')"]
)
def test_a_file_names_no_code_unless_it_is_trusted(tmp_path, spec):
    file = tmp_path / "players.toml"
    file.write_text(f"[players.one]\nspec = {json.dumps(spec)}\n")
    with pytest.raises(ConfigError, match="--trust-players"):
        read_players(file)
    assert read_players(file, trusted=True) == {"one": spec}
