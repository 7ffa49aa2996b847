"""The commands refuse a wrong game with the user's own line and exit code 2, without a traceback."""

from __future__ import annotations

import os

import pytest

from tests.wrong_games import WRONG, write
from treetop.game import watchdog

_ALL = "TREETOP_ALL_WRONG_GAMES" in os.environ
"""Whether each command is given each game; in the usual run they take turns."""

COMMANDS = {
    "search": lambda game: ("search", game, "--simulations", "20"),
    "match": lambda game: ("match", "uct(simulations=20)", "random", "--game", game, "--games", "2"),
    "play": lambda game: ("play", game, "--simulations", "20"),
    "evaluate": lambda game: ("evaluate", game, "--player", "random", "--games", "2"),
    "solve": lambda game: ("solve", game),
    "bench": lambda game: ("bench", game, "--simulations", "20"),
    "warmup": lambda game: ("warmup", game),
}


@pytest.mark.parametrize(("name", "wrong"), [
    (name, wrong) for index, wrong in enumerate(WRONG) for turn, name in enumerate(COMMANDS) if (_ALL or index % len(COMMANDS) == turn)
    and (name, wrong.name) != ("match", "fewer players than move")  # refused before it is tried: a match takes two
], ids=lambda value: getattr(value, "name", value).replace(" ", "-"))  # fmt: skip
def test_a_command_refuses_a_wrong_game_with_its_line(name, wrong, run, tmp_path, monkeypatch):
    monkeypatch.setattr(watchdog, "SECONDS", 0.2)
    file = write(tmp_path, wrong.name, wrong.source)
    ended = run(*COMMANDS[name](f"{file}:Wrong"), lines=["0"] * 20)
    assert ended.code == 2, ended.err
    assert f"{file.name}, line " in ended.err
    assert "Traceback" not in ended.err
