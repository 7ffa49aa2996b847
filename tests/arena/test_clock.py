"""Games with a clock: a player whose time is over loses by forfeit, and players are shown their times."""

from __future__ import annotations

import pytest

import treetop
from tests.arena.stand_ins import MAKE
from treetop.arena.game import play_game
from treetop.arena.log import read_match
from treetop.arena.matches import match
from treetop.errors import ConfigError, SaveError
from treetop.players.baselines import RandomPlayer
from treetop.players.clock import ClockTimes, TimeControl
from treetop.players.engine import UciPlayer
from treetop.players.following import CecpPlayer, GtpPlayer
from treetop.players.spec import make_player

GAME = treetop.load_game("tic_tac_toe")
QUICK = {"make_player": MAKE, "workers": 1, "seed": 1, "balanced": False}


class Noting(RandomPlayer):
    """Notes the times that it is shown."""

    def prepare(self, game):
        self.first = self.clock

    def choose(self, position):
        self.times = [*getattr(self, "times", []), self.clock]
        return super().choose(position)


def test_players_are_shown_the_times_of_all_seats():
    player, other = Noting(), Noting()
    played = play_game([player, other], treetop.Position(GAME), 1, clock=TimeControl(1000.0, 7.0))
    assert played.forfeit is None
    assert player.first == player.times[0] == ClockTimes((1000.0, 1000.0), 7.0)
    assert player.times[1].left[0] == pytest.approx(1007.0 - played.seconds[0], abs=1.0)
    assert player.times[-1].left[1] > 1000.0
    play_game([player, other], treetop.Position(GAME), 1)
    assert player.times[-1] is None


def test_a_player_without_time_loses_by_forfeit_with_the_reason(tmp_path):
    file = tmp_path / "m.jsonl"
    result = match("slow:0.3", "first", GAME, games=2, clock="0.2", out=file, **QUICK)
    assert result.forfeits == {"A": 2, "B": 0}
    assert result.wins == 0
    assert all("lost on time" in game["reason"] for game in read_match(file)[1])
    assert read_match(file)[0]["clock"] == "0.2"
    with pytest.raises(SaveError, match=r"another match: its clock is 0.2, not 60\+1"):
        match("slow:0.3", "first", GAME, games=2, clock="60+1", out=file, **QUICK)


@pytest.mark.parametrize("text", ["", "60+", "-1", "60+x", "0", "1e3", 5])
def test_a_clock_is_seconds_and_an_increment(text):
    with pytest.raises(ConfigError, match="clock must"):
        TimeControl.of(text)


def test_a_search_takes_a_share_of_its_time_and_no_more_than_its_own_limit():
    position = treetop.position("connect_four")
    free, bound = (make_player(spec, position.game) for spec in ("uct", "uct(simulations=50)"))
    for player in (free, bound):
        player.clock = ClockTimes((60.0, 1.0), 0.0)
    assert free._limit_at(position).simulations is None
    assert 0.5 < free._limit_at(position).seconds < 10
    assert bound._limit_at(position).simulations == 50
    assert bound._limit_at(position).seconds == free._limit_at(position).seconds
    free.seat = 1
    assert free._limit_at(position).seconds < 0.5
    free.clock = ClockTimes((60.0, 0.0), 0.0)
    assert free._limit_at(position).seconds > 0
    halving = make_player("gumbel", position.game)
    halving.clock = ClockTimes((60.0, 60.0), 0.0)
    assert halving._limit_at(position).simulations == 1000


# What engines are sent.


def sent(player, calls):
    """What an engine is sent in a game, by the calls of its protocol."""
    lines = []

    class Stand:
        commands = ("time_left",)
        words = type("Words", (), {"first": "w"})
        process = type("Process", (), {"closed": False})

        def __getattr__(self, name):
            def note(*arguments):
                lines.append((name, *arguments))
                return {"best_move": "a1", "generate": "a1"}.get(name)

            return note

    player._engine = Stand()
    player.seat = 0
    player.clock = ClockTimes((65.5, 7.25), 2.0)
    start = treetop.Position(player.game)
    player.begin(start, 1)
    player.choose(start)
    return [line for line in lines if line[0] in calls]


def test_engines_are_sent_the_clock():
    uci = UciPlayer(GAME, "python3", check=0)
    assert sent(uci, ["best_move"]) == [("best_move", [], "wtime 65500 btime 7250 winc 2000 binc 2000", None, 66.5)]
    uci = UciPlayer(GAME, "python3", check=0, nodes=5)
    assert sent(uci, ["best_move"])[0][2] == "nodes 5 wtime 65500 btime 7250 winc 2000 binc 2000"
    cecp = CecpPlayer(GAME, "python3", commands=["random"])
    assert sent(cecp, ["new_game", "generate"]) == [
        ("new_game", None, ["level 0 1:05 2", "random"], None), ("generate", (65.5, 7.25), 66.5)
    ]  # fmt: skip
    gtp = GtpPlayer(GAME, "python3")
    assert sent(gtp, ["ask", "generate"]) == [
        ("ask", "time_settings 65 0 0"), ("ask", "time_left black 65 0"), ("generate", "black", 66.5)
    ]  # fmt: skip
