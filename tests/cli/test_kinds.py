"""The commands with games of every kind."""

from __future__ import annotations

import json

import pytest

from treetop.game.registry import BUNDLED


@pytest.mark.parametrize("game", sorted(BUNDLED))
def test_every_bundled_game_can_be_described_and_started(run, game):
    assert run("games", game).code == 0
    ended = run("play", game, "--player", "both", "--seed", "1", lines=["board", "moves", "zzz", "undo", "quit"])
    assert ended.code == 0
    assert "is not a legal move here" in ended.out


# One game of each kind: every further one would only be compiled. That all bundled games can be compiled is the conformance check's promise.
@pytest.mark.parametrize("game", ["tic_tac_toe", "nim_three", "pig", "kuhn_poker", "matching_pennies", "pendulum"])
def test_a_game_of_each_kind_can_be_searched_played_warmed_up_and_measured(run, game):
    reported = json.loads(run("search", game, "--simulations", "60", "--seed", "1", "--json").out)
    assert reported["simulations"] > 0
    assert reported["move"]
    ended = run("play", game, "--seed", "1", "--simulations", "10", lines=["hint", "quit"])
    assert ended.code == 0
    assert "the engine would play" in ended.out
    assert json.loads(run("warmup", game, "--json").out)["games"][0]["game"].startswith(game)
    assert (
        json.loads(run("bench", game, "--simulations", "50", "--repeat", "1", "--json").out)["games"][0]["simulations"]
        == 50
    )


# Search.


def test_chance_is_resolved_by_a_seed_or_refused_with_what_would_help(run):
    ended = run("search", "kuhn_poker")
    assert ended.code == 2
    for words in ("is a chance node", "--moves", "J, Q, K", "--seed N"):
        assert words in ended.err
    drawn = run("search", "kuhn_poker", "--simulations", "50", "--seed", "4")
    assert drawn.code == 0
    assert "chance, by seed 4:" in drawn.err
    given = run("search", "kuhn_poker", "--simulations", "50", "--moves", "K Q")
    assert given.code == 0
    assert given.err == ""


def test_a_search_is_for_the_player_that_was_asked_for(run):
    reported = json.loads(run("search", "matching_pennies", "--player", "1", "--simulations", "50", "--json").out)
    assert reported["player"] == 1
    assert run("search", "matching_pennies", "--player", "2", "--simulations", "50").code == 2
    assert run("search", "nim", "--player", "1", "--simulations", "50").code == 2


def test_variations_are_refused_where_there_are_none(run):
    ended = run("search", "matching_pennies", "--lines", "2", "--simulations", "50")
    assert ended.code == 2
    assert "no principal variations" in ended.err


# Play.


def test_dice_are_rolled_aloud_and_undo_brings_no_better_ones(run):
    out = run("play", "pig", "--player", "both", "--seed", "5", lines=["roll", "undo", "roll", "quit"]).out
    rolls = [line for line in out.splitlines() if line.startswith("chance: ")]
    assert len(rolls) == 2
    assert rolls[0] == rolls[1]


def test_without_a_seed_the_dice_are_new_and_the_seed_is_reported(run):
    first, second = (run("play", "pig", lines=["quit"]).out for _ in range(2))
    assert "come from seed" in first
    assert first != second
    assert "come from seed" not in run("play", "nim", "--simulations", "5", lines=["quit"]).out


@pytest.mark.parametrize("seed", range(6))
def test_a_person_is_shown_their_own_card_and_no_other(run, seed):
    ended = run(
        "play",
        "kuhn_poker",
        "--seed",
        seed,
        "--simulations",
        "30",
        lines=["board", "moves", "zzz", "hint", "pass", "bet", "bet"],
    )
    assert ended.code == 0
    assert "you have" in ended.out
    assert "player 1 has" not in ended.out
    assert "chance:" not in ended.out
    assert "The game is over" in ended.out
    assert "for player 1; 30 simulations" not in ended.out  # the engine's value would tell how good its card is
    shown = {line.partition("you have ")[2][0] for line in ended.out.splitlines() if "you have" in line}
    assert len(shown - {"?"}) == 1


def test_a_game_with_secrets_is_left_and_resumed_without_revealing_them(run, tmp_path):
    run("play", "leduc_poker", "--seed", "3", "--simulations", "20", lines=["quit"])
    run("play", "leduc_poker", "--seed", "3", "--simulations", "20", "--save", "l.json", lines=["call", "quit"])
    out = run("play", "--resume", "l.json", lines=["quit"]).out
    assert "So far" not in out


def test_an_engine_with_perfect_information_is_announced(run):
    out = run(
        "play",
        "kuhn_poker",
        "--rule",
        "uct(information='perfect')",
        "--seed",
        "1",
        "--simulations",
        "5",
        lines=["quit"],
    ).out
    assert "perfect information" in out


def test_everybody_is_asked_with_simultaneous_moves(run):
    out = run("play", "matching_pennies", "--player", "both", lines=["heads", "nonsense", "tails"]).out
    assert "player 0, your move: heads" in out
    assert "player 1, your move: tails" in out
    assert "The game is over" in out
    out = run("play", "matching_pennies", "--simulations", "20", "--seed", "1", lines=["heads"]).out
    assert "player 1, the engine, plays" in out


def test_continuous_actions_are_read_and_a_dealt_game_is_resumed_as_it_was_dealt(run, tmp_path):
    out = run("play", "pendulum", "--seed", "4", lines=["0.5", "moves", "undo", "0.25", "quit"]).out
    assert "an action is 1 finite number" in out
    assert "took back 0.5" in out
    boards = [line for line in out.splitlines() if line.startswith("angle")]
    again = run("play", "--resume", "pendulum.game.json", lines=["quit"]).out
    assert boards[-1] in again


def test_immediate_rewards_are_in_the_result(run):
    moves = ["up"] + ["right"] * 11 + ["down"]
    assert "-13 for player 0" in run("play", "cliff_walking", lines=moves).out


# Match.


def test_three_players_take_three_names(run):
    out = run(
        "match", "random", "greedy", "random", "--game", "nim_three", "--games", "6", "--workers", "1", "--any-opening"
    ).out
    assert "seat 2" in out
    assert "for two players" in out
    reported = json.loads(
        run(
            "match",
            "random",
            "greedy",
            "random",
            "--game",
            "nim_three",
            "--games",
            "6",
            "--workers",
            "1",
            "--any-opening",
            "--json",
        ).out
    )
    assert len(reported["returns"]) == 3


@pytest.mark.parametrize(("arguments", "words"), [
    (("random", "random", "--game", "nim_three"), "has 3 players: name 3 of them, not 2"), (("random", "--game", "nim"), "has 2 players: name 2 of them, not 1"),
    (("random", "random", "random", "--game", "nim_three", "--sprt", "0", "5"), "--sprt compares two players"),
    (("random", "--game", "twenty48"), "treetop evaluate"), (("alphabeta", "random", "--game", "pig"), "a game with chance"),
])  # fmt: skip
def test_matches_that_cannot_be_are_refused(run, arguments, words):
    ended = run("match", *arguments)
    assert ended.code == 2
    assert words in ended.err


def test_games_of_chance_and_secrets_are_matched(run):
    out = run("match", "uct(simulations=20)", "random", "--game", "leduc_poker", "--games", "10", "--workers", "1").out
    assert "mean return" in out
    assert run("match", "random", "random", "--game", "pig(goal=20)", "--games", "4", "--workers", "1").code == 0
    assert run("match", "random", "greedy", "--game", "rock_paper_scissors", "--games", "4", "--workers", "1").code == 0
