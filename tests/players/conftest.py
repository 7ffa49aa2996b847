"""Tiny engines, written by the tests: they misbehave on request."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap

import pytest

import treetop

UCI = """
    import sys, os, time, signal, subprocess
    def say(text):
        sys.stdout.write(text + "\\n"); sys.stdout.flush()
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            say("id name scripted"); say("option name Skill Level type spin default 20 min -20 max 20")
            say("option name UCI_Variant type combo default chess var chess var two words")
            say("option name Ponder type check default false"); say("uciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:1] == ["quit"]:
            sys.exit(0)
        elif words[:1] == ["position"]:
            played = words[3:]
        elif words[:1] == ["go"]:
            GO
"""


@pytest.fixture
def script(tmp_path):
    """A command line that runs a Python text."""

    def write(text):
        file = tmp_path / f"engine{len(list(tmp_path.iterdir()))}.py"
        file.write_text(textwrap.dedent(text))
        return shlex.join([sys.executable, "-I", "-S", str(file)])

    return write


@pytest.fixture
def scripted_uci(script):
    """The command line of a UCI engine that does something of the test's own at the command go."""
    return lambda go: script(UCI.replace("GO", go))


def _alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def gone():
    """Whether a process and all that it has started are gone."""
    return lambda group: not _alive(group)


@pytest.fixture
def play():
    """Play a game to its end; the players are started and not closed."""

    def loop(game, players, seed=1):
        position = treetop.Position(treetop.load_game(game))
        for player in players:
            player.begin(position, seed)
        while not position.is_terminal:
            action = players[position.player].choose(position)
            assert action in position.legal_actions()
            for player in players:
                player.observe(action)
            position = position.apply(action)
        return position

    return loop


@pytest.fixture
def needs():
    """Skip a test whose program is not installed."""

    def look(program, package):
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/games:/usr/local/games") is None:
            pytest.skip(f"{program} is not installed: apt-get install {package}")

    return look
