"""`go`: what limits a search, in all dialects."""

from __future__ import annotations

import pytest

from treetop.errors import ConfigError
from treetop.serve.protocols.going import Going


def _budget(text, letter="w", overhead=0.05, in_seconds=False):
    return Going.parse(text.split()).budget(letter, overhead, in_seconds=in_seconds)


def test_the_overhead_is_kept_back_from_the_time_of_a_move_but_never_more_than_half():
    assert _budget("movetime 1000") == (pytest.approx(0.95), None)
    assert _budget("movetime 50") == (pytest.approx(0.025), None)
    assert _budget("movetime 0") == (pytest.approx(0.001), None)


def test_each_player_has_its_own_clock():
    assert _budget("wtime 60000 btime 1000") == (pytest.approx(2.35), None)
    assert _budget("wtime 60000 btime 1000", "b") == (pytest.approx(0.001), None)
    assert _budget("wtime -200 btime 1000") == (pytest.approx(0.001), None)


def test_the_last_move_before_more_time_keeps_a_reserve():
    assert _budget("wtime 5000 movestogo 1") == (pytest.approx(3.45), None)


def test_the_least_of_several_limits_counts():
    assert _budget("movetime 1000 wtime 1000000 nodes 50") == (pytest.approx(0.95), 50)
    assert _budget("movetime 100000 byoyomi 1000 wtime 0") == (pytest.approx(0.95), None)


def test_clocks_of_ucci_are_in_seconds_until_an_option_says_otherwise():
    assert _budget("time 60 increment 4", in_seconds=True) == (pytest.approx(60 / 25 + 3 - 0.05), None)
    assert _budget("time 60000 increment 4000", in_seconds=False) == _budget("time 60 increment 4", in_seconds=True)


def test_words_without_a_meaning_are_left_out_and_numbers_must_be_numbers():
    going = Going.parse(["nodes", "5", "sideways", "opptime", "20", "oppincrement", "0"])
    assert (going.numbers["nodes"], going.unknown) == (5, ("sideways",))
    for text in ("nodes", "nodes many", "wtime 1e9", "nodes " + "9" * 5000, "movetime \u0661"):
        with pytest.raises(ConfigError, match="needs a whole number"):
            Going.parse(text.split())


def test_only_a_search_with_a_limit_ends_by_itself():
    endless = {text: Going.parse(text.split()).is_endless for text in ("", "infinite", "ponder wtime 5", "nodes 5")}
    assert endless == {"": True, "infinite": True, "ponder wtime 5": True, "nodes 5": False}
