"""Engines that claim a result: the game is decided by its rules, or lost by the engine that ends it."""

from __future__ import annotations

import pytest

import treetop
from treetop.arena.game import play_game
from treetop.players.baselines import RandomPlayer
from treetop.players.engine import UciPlayer
from treetop.players.following import CecpPlayer, GtpPlayer

GAME = treetop.load_game("tic_tac_toe")
GOMOKU = treetop.load_game("gomoku(size=5, line=4)")
FREE = 'next(c + r for c in "abc" for r in "123" if c + r not in played)'
CECP = """
    import sys
    played = []
    def say(text):
        sys.stdout.write(text + "\\n"); sys.stdout.flush()
    for line in sys.stdin:
        words = line.split()
        if words[0] == "protover":
            say("feature ping=1 usermove=1 done=1")
        elif words[0] == "new":
            played = []
        elif words[0] == "ping":
            say("pong " + words[1])
        elif words[0] == "usermove":
            played.append(words[1])
        elif words[0] == "go":
            move = FREE
            GO
"""
GTP = """
    import sys
    for line in sys.stdin:
        number, command, *words = line.split()
        reply = {"list_commands": "play", "genmove": "resign"}.get(command, "")
        sys.stdout.write(f"={number} {reply}\\n\\n"); sys.stdout.flush()
"""
PLAY = "played.append(move); say('move ' + move)"


def lost(player, seat):
    """Whether the player in a seat lost a game by forfeit, and why."""
    players = [RandomPlayer(), RandomPlayer()]
    players[seat] = player
    played = play_game(players, treetop.Position(player.game), 1)
    player.close()
    if played.forfeit is None:
        assert played.end.is_terminal
        assert list(played.rewards) == played.end.rewards
        return None
    assert played.forfeit == seat
    assert played.rewards[seat] == -1.0
    return played.reason


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("go", "reason"), [
    ("say('1-0 {White mates}')", "says that the game is over (1-0 {White mates})"),
    ("say('0-1 {I win}')", "says that the game is over (0-1 {I win})"),
    ("say('1/2-1/2 {Draw by repetition}')", "says that the game is over (1/2-1/2"),
    ("say('result 1/2-1/2 {Draw}')", "says that the game is over (result 1/2-1/2"),
    ("say('resign')", "resigns"),
    (f"say('offer draw'); {PLAY}", None),
    (f"{PLAY}; say('offer draw')", None),
    (f"{PLAY}; say('1-0 {{White wins}}')", None),  # it goes on to play
    (f"say('tellics resign'); say('telluser 1-0 is near'); {PLAY}", None),
])  # fmt: skip
def test_a_result_that_a_cecp_engine_claims_is_never_taken_over(script, seat, go, reason):
    given = lost(CecpPlayer(GAME, script(CECP.replace("FREE", FREE).replace("GO", go)), depth=1), seat)
    assert (given is None) == (reason is None), given
    assert reason is None or reason in given


@pytest.mark.parametrize(("go", "reason"), [
    ("say('bestmove (none)')", "has no move where there is one"),
    ("say('bestmove resign')", "resigns"),
    ("say('bestmove win')", "played an illegal move: 'win'"),
    (f"say('info string 1-0'); say('bestmove ' + {FREE})", None),
])  # fmt: skip
def test_a_uci_engine_without_a_move_loses(scripted_uci, go, reason):
    given = lost(UciPlayer(GAME, scripted_uci(go), check=0), 1)
    assert (given is None) == (reason is None), given
    assert reason is None or reason in given


def test_a_gtp_engine_that_resigns_loses(script):
    assert "resigns" in lost(GtpPlayer(GOMOKU, script(GTP)), 1)
