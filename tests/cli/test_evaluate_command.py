"""`treetop evaluate`."""

from __future__ import annotations

import json

import pytest

QUICK = ("--games", "6", "--seed", "1", "--workers", "1")


def test_a_table_of_scores_and_the_differences(run):
    out = run("evaluate", "blackjack", "--player", "random", "--player", "greedy", *QUICK).out
    for words in ("blackjack", "mean score", "median", "greedy minus random", "a score above 0"):
        assert words in out


def test_the_json_has_its_keys_and_the_same_command_goes_on(run, tmp_path):
    command = (
        "evaluate",
        "blackjack",
        "--player",
        "random",
        "--out",
        "e.jsonl",
        "--win-above",
        "0.5",
        "--json",
        *QUICK,
    )
    reported = json.loads(run(*command).out)
    assert reported["complete"]
    assert reported["win_above"] == 0.5
    assert reported["players"][0]["mean"].keys() == {"value", "low", "high"}
    content = (tmp_path / "e.jsonl").read_bytes()
    assert len(content.splitlines()) == 7
    again = json.loads(run(*command).out)
    assert again == reported
    assert (tmp_path / "e.jsonl").read_bytes() == content


@pytest.mark.parametrize(("arguments", "words"), [
    (("--player", "random", "--games", "0"), "games must be"), (("--player", "nobody"), "no player called 'nobody'"),
    (("--player", "random", "--player", "random"), "named twice"), (("--player", "random", "--out", "nowhere/e.jsonl"), "there is no folder"),
    (("--player", "alphabeta"), "alphabeta plays two-player zero-sum games"),
])  # fmt: skip
def test_usage_errors_exit_with_2(run, arguments, words):
    ended = run("evaluate", "blackjack", *QUICK, *arguments)
    assert ended.code == 2
    assert words in ended.err
    assert ended.out == ""


def test_without_a_player_the_recommended_one_plays(run):
    ended = run("evaluate", "blackjack", *QUICK)
    assert "the player recommended for blackjack(natural=1.5): uct(simulations=1000)" in ended.err
    assert "uct(simulations=1000)" in ended.out
