"""`treetop ladder`: a table, JSON, notes about rungs that are left out."""

from __future__ import annotations

import json

from treetop.arena import anchors

QUICK = ("--games", "2", "--workers", "1", "--player", "uct(simulations=20)")


def test_a_ladder_is_played_printed_and_continued(run, tmp_path, monkeypatch):
    monkeypatch.setattr(anchors, "GENERAL", ("random", "greedy", "gtp('no-such-engine')"))
    ended = run("ladder", "tic_tac_toe", *QUICK, "--out", "folder")
    assert ended.code == 0
    assert "left out: gtp('no-such-engine')" in ended.err
    assert "uct(simulations=20) on the ladder of tic_tac_toe: 6 games, seed 0" in ended.out
    assert "anchor" in ended.out
    reported = json.loads(run("ladder", "tic_tac_toe", *QUICK, "--out", "folder", "--json").out)
    assert reported["player"] == "uct(simulations=20)"
    assert list(reported["left_out"]) == ["gtp('no-such-engine')"]
    assert len(reported["matches"]) == len(list((tmp_path / "folder").iterdir())) == 3


def test_wrong_ladders_exit_with_2(run):
    assert run("ladder", "tic_tac_to").code == 2
    assert run("ladder", "tic_tac_toe", "--player", "nobody").code == 2
    assert run("ladder", "tic_tac_toe", "--games", "3").code == 2
