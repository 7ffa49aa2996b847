"""Evaluations: one player by itself, several on the same deals, never lost."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

import treetop
from treetop.arena.evaluation import evaluate
from treetop.arena.log import read_match
from treetop.errors import ConfigError, SaveError
from treetop.stats import student

REPOSITORY = Path(__file__).resolve().parents[2]
ROLLS = "tests.arena.test_evaluation:Rolls"


@treetop.game(players=1, num_actions=2, max_length=20, rewards=(-10, 60), num_outcomes=6)
class Rolls:
    """Roll a die up to ten times; each roll adds to the score, a one takes all and ends it."""

    rolls = treetop.field("i1")
    total = treetop.field("i2")
    rolling = treetop.field("bool")
    over = treetop.field("bool")

    def reset(self):
        self.rolls = 0
        self.total = 0
        self.rolling = True
        self.over = False

    def current_player(self):
        return -1 if self.rolling else 0

    def legal_actions(self, out):
        out[0] = 0
        out[1] = 1
        return 2

    def chance_outcomes(self, actions, probabilities):
        for face in range(6):
            actions[face] = face
            probabilities[face] = 1 / 6
        return 6

    def apply(self, action):
        if self.rolling:
            self.rolls += 1
            self.rolling = False
            self.total += action + 1
            if action == 0:
                self.total = -10
                self.over = True
            if self.rolls == 10:
                self.over = True
        elif action == 0:
            self.over = True
        else:
            self.rolling = True

    def is_terminal(self):
        return self.over

    def rewards(self, out):
        out[0] = self.total

    def summary(self):
        return {"rolls": int(self.rolls), "end": "bust" if self.total < 0 else "kept"}


def played(path):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in read_match(path)[1]]


def test_scores_are_those_of_the_games(tmp_path):
    out = tmp_path / "e.jsonl"
    result = evaluate(Rolls, ["random", "uct(simulations=60)"], games=30, seed=3, workers=1, out=out, win_above=5)
    header, games = read_match(out)
    assert header["kind"] == "an evaluation"
    assert [game["index"] for game in games] == list(range(60))
    for number, one in enumerate(result.scores):
        values = [game["returns"][0] for game in games if game["player"] == number]
        assert len(values) == one.games == 30
        assert one.mean.value == pytest.approx(statistics.mean(values))
        assert one.median == statistics.median(values)
        assert (one.worst, one.best) == (min(values), max(values))
        assert one.wins == sum(value > 5 for value in values)
        assert 0.0 <= one.win_interval.low <= one.win_share <= one.win_interval.high <= 1.0
        half = student(29) * statistics.stdev(values) / math.sqrt(30)
        assert one.mean.high - one.mean.low == pytest.approx(2 * half)
    assert result.scores[0].simulations is None
    assert result.scores[1].simulations == 60
    assert result.scores[0].ends["end"]["bust"] + result.scores[0].ends["end"]["kept"] == pytest.approx(1)
    assert result.scores[0].ends["rolls"]["1"] == 1
    difference = result.differences[0]
    pairs = [games[2 * deal + 1]["returns"][0] - games[2 * deal]["returns"][0] for deal in range(30)]
    assert difference.more.value == pytest.approx(statistics.mean(pairs))
    assert difference.better + difference.worse <= difference.deals == 30
    json.dumps(result.to_dict(), allow_nan=False)
    text = str(result)
    for words in ("mean score", "95% interval", "on the same deals", "rolls", "bust", "a score above 5"):
        assert words in text


def test_all_players_get_the_same_dice(tmp_path):
    evaluate(Rolls, ["random", "greedy"], games=20, seed=3, workers=1, out=tmp_path / "e")
    games = played(tmp_path / "e")
    for one, two in zip(games[::2], games[1::2], strict=True):
        assert one["deal"] == two["deal"]
        assert one["seeds"]["chance"] == two["seeds"]["chance"]
        shared = min(len(one["actions"]), len(two["actions"]))
        assert one["actions"][:shared:2] == two["actions"][:shared:2]
    assert len({game["actions"][0] for game in games}) > 3


def test_what_was_played_is_not_played_again_and_a_torn_line_is(tmp_path):
    options = {"games": 12, "seed": 1, "workers": 1}
    whole = evaluate(Rolls, "random", out=tmp_path / "whole", **options)
    evaluate(Rolls, "random", out=tmp_path / "e", **{**options, "games": 7})
    content = (tmp_path / "e").read_bytes()
    (tmp_path / "e").write_bytes(content[:-5])
    resumed = evaluate(Rolls, "random", out=tmp_path / "e", **options)
    assert played(tmp_path / "e") == played(tmp_path / "whole")
    assert resumed.scores[0].mean == whole.scores[0].mean
    content = (tmp_path / "e").read_bytes()
    assert evaluate(Rolls, "random", out=tmp_path / "e", **options).scores == resumed.scores
    assert (tmp_path / "e").read_bytes() == content
    with pytest.raises(SaveError, match="another evaluation: its players are random, not greedy"):
        evaluate(Rolls, "greedy", out=tmp_path / "e", **options)
    with pytest.raises(SaveError, match="seed is 1, not 2"):
        evaluate(Rolls, "random", out=tmp_path / "e", **{**options, "seed": 2})


@pytest.mark.parametrize("size", ["1e200", "1" + "0" * 400])
def test_recorded_returns_too_large_for_a_mean_are_refused(tmp_path, size):
    options = {"games": 3, "seed": 1, "workers": 1}
    evaluate(Rolls, "random", out=tmp_path / "e", **options)
    lines = (tmp_path / "e").read_text().splitlines(keepends=True)
    lines[1] = re.sub(r'"returns": \[[^,\]]+', f'"returns": [{size}', lines[1])
    (tmp_path / "e").write_text("".join(lines))
    with pytest.raises(SaveError, match="line 2 is not a valid game"):
        evaluate(Rolls, "random", out=tmp_path / "e", **options)


def test_an_evaluation_that_is_killed_and_resumed_equals_one_that_was_not(tmp_path):
    out = tmp_path / "e.jsonl"
    command = [
        sys.executable,
        "-m",
        "treetop",
        "evaluate",
        ROLLS,
        "--player",
        "uct(simulations=300)",
        "--games",
        "400",
        "--seed",
        "2",
        "--workers",
        "1",
        "--out",
        str(out),
    ]
    process = subprocess.Popen(command, cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    until = time.monotonic() + 240
    while (
        time.monotonic() < until
        and process.poll() is None
        and (not out.exists() or len(out.read_bytes().splitlines()) < 5)
    ):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = len(read_match(out)[1])
    assert 4 <= kept < 400
    evaluate(ROLLS, "uct(simulations=300)", games=kept + 5, seed=2, workers=1, out=out)
    evaluate(ROLLS, "uct(simulations=300)", games=kept + 5, seed=2, workers=1, out=tmp_path / "whole")
    assert played(out) == played(tmp_path / "whole")


def test_workers_do_not_change_a_game(tmp_path):
    for workers in (1, 2):
        evaluate("blackjack", "random", games=10, seed=5, workers=workers, out=tmp_path / str(workers))
    assert played(tmp_path / "1") == played(tmp_path / "2")


def test_a_game_for_several_is_played_by_one_kind_of_player_in_all_seats():
    result = evaluate("kuhn_poker", "random", games=40, seed=1, workers=1)
    assert len(result.scores[0].seats) == 2
    assert sum(result.scores[0].seats) == pytest.approx(0)
    assert "seats" in result.facts()
    assert len(evaluate("nim_three", "random", games=3, workers=1).scores[0].seats) == 3


def test_the_clairvoyant_is_named():
    result = evaluate(
        "kuhn_poker", ["uct(simulations=20)", "uct(simulations=20, information='perfect')"], games=4, workers=1
    )
    assert [one.clairvoyant for one in result.scores] == [False, True]
    assert "saw hidden information" in str(result)


def test_progress_reports_the_mean_so_far():
    seen = []
    result = evaluate(Rolls, "random", games=5, workers=1, progress=seen.append)
    assert [now.finished for now in seen] == [1, 2, 3, 4, 5]
    assert seen[-1].result == (pytest.approx(result.scores[0].mean.value),)


def test_bad_evaluations_are_refused(tmp_path):
    for options, words in (
        ({"games": 0}, "games must be"),
        ({"win_above": math.nan}, "win_above"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"names": ["a", "b"]}, "as many names as players"),
    ):
        with pytest.raises(ConfigError, match=words):
            evaluate("blackjack", "random", workers=1, out=tmp_path / "e", **options)
    with pytest.raises(ConfigError, match="at least one player"):
        evaluate("blackjack", [], workers=1)
    assert not list(tmp_path.iterdir())


def test_it_is_found_at_the_top_and_loaded_by_its_first_use():
    assert treetop.evaluate is evaluate
    code = "import sys, treetop; assert 'treetop.arena.matches' not in sys.modules; assert callable(treetop.evaluate)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPOSITORY)
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = treetop.evaluat
