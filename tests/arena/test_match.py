"""Matches: counted rightly, played the same whatever happens, never lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.arena.stand_ins import MAKE
from treetop.arena.log import read_match
from treetop.arena.matches import MatchError, match
from treetop.arena.sprt import Sprt, SprtVerdict
from treetop.errors import ConfigError, PlayerError, SaveError

REPOSITORY = Path(__file__).resolve().parents[2]
QUICK = {"make_player": MAKE, "balanced": False, "workers": 1, "seed": 1}


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def played(path: Path) -> list[dict]:
    """The games of a file in their order, without what a clock said."""
    _, records = read_match(path)
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


def test_a_match_counts_what_was_played(tmp_path):
    out = tmp_path / "match.jsonl"
    result = match("winner", "random", "tic_tac_toe", games=40, out=out, **QUICK)
    header, *games = lines(out)
    assert header["kind"] == "a match"
    assert header["players"] == ["winner", "random"]
    assert (header["games"], header["sprt"]) == (40, None)
    assert [game["index"] for game in games] == list(range(40))
    assert result.wins == sum(game["result"] == "win" for game in games)
    assert result.draws == sum(game["score"] == 0.5 for game in games)
    assert result.wins + result.draws + result.losses == result.games == 40
    points = [games[i]["score"] + games[i + 1]["score"] for i in range(0, 40, 2)]
    assert result.pentanomial == tuple(points.count(half / 2) for half in range(5))
    assert result.score == sum(points) / 40
    assert result.complete
    first = [game["score"] if game["seats"][0] == "A" else 1 - game["score"] for game in games]
    assert result.first_player == (first.count(1), first.count(0.5), first.count(0))
    assert result.mean_rewards["A"] == pytest.approx(sum(game["rewards"]["A"] for game in games) / 40)
    assert result.mean_rewards["A"] == -result.mean_rewards["B"]


def test_a_pair_is_one_opening_with_colours_swapped(tmp_path):
    match("random", "first", "connect_four", games=12, out=tmp_path / "m", **QUICK)
    games = lines(tmp_path / "m")[1:]
    for one, two in zip(games[::2], games[1::2], strict=True):
        assert one["pair"] == two["pair"]
        assert one["opening"] == two["opening"]
        assert (one["seats"], two["seats"]) == (["A", "B"], ["B", "A"])
        assert len(one["opening_moves"]) == 5
    assert len({tuple(game["opening"]) for game in games}) == 6
    assert len({game["seeds"][key] for game in games for key in ("game", "A", "B")}) == 36


def test_workers_do_not_change_a_game(tmp_path):
    here = match("winner", "random", "connect_four", games=16, out=tmp_path / "one", **QUICK)
    there = match("winner", "random", "connect_four", games=16, out=tmp_path / "two", **{**QUICK, "workers": 2})
    assert played(tmp_path / "one") == played(tmp_path / "two")
    assert here.to_dict() | {"out": ""} == there.to_dict() | {"out": ""}


def test_a_finished_match_is_not_played_again_and_more_games_go_on(tmp_path):
    out = tmp_path / "m"
    first = match("winner", "random", "tic_tac_toe", games=10, out=out, **QUICK)
    content = out.read_bytes()
    assert match("winner", "random", "tic_tac_toe", games=10, out=out, **QUICK) == first
    assert out.read_bytes() == content
    match("winner", "random", "tic_tac_toe", games=20, out=out, **QUICK)
    assert out.read_bytes().startswith(content)
    match("winner", "random", "tic_tac_toe", games=20, out=tmp_path / "whole", **QUICK)
    assert played(out) == played(tmp_path / "whole")
    assert match("winner", "random", "tic_tac_toe", games=10, out=out, **QUICK) == first
    assert not list(tmp_path.glob("*.lock"))


def test_a_torn_last_line_is_dropped_and_its_game_played_again(tmp_path):
    out = tmp_path / "m"
    match("winner", "random", "tic_tac_toe", games=10, out=out, **QUICK)
    whole, content = played(out), out.read_bytes()
    header_end = content.index(b"\n")
    for cut in (len(content) - 1, len(content) - 30, header_end + 5, header_end + 1, header_end, 20):
        out.write_bytes(content[:cut])
        match("winner", "random", "tic_tac_toe", games=10, out=out, **QUICK)
        assert played(out) == whole, cut
        assert out.read_bytes().endswith(b"\n")
        lines(out)


def test_a_hole_in_the_middle_is_filled(tmp_path):
    out = tmp_path / "m"
    match("winner", "random", "tic_tac_toe", games=10, out=out, **QUICK)
    whole, content = played(out), out.read_text().splitlines(keepends=True)
    out.write_text("".join([content[0], *content[1:4], *content[6:8], content[10]]))
    match("winner", "random", "tic_tac_toe", games=10, out=out, **QUICK)
    assert played(out) == whole


def test_the_file_of_another_match_is_refused_and_left_alone(tmp_path):
    out = tmp_path / "m"
    match("winner", "random", "tic_tac_toe", games=4, out=out, **QUICK)
    content = out.read_bytes()
    wrong = [
        (("random", "winner", "tic_tac_toe"), {}, "players are winner and random, not random and winner"),
        (("winner", "random", "connect_four"), {}, "whose rules are not those of connect_four"),
        (("winner", "random", "tic_tac_toe"), {"seed": 2}, "seed is 1, not 2"),
        (("winner", "random", "tic_tac_toe"), {"opening_plies": 2}, "openings are plies 1"),
        (("winner", "random", "tic_tac_toe"), {"balanced": True}, "openings are"),
        (("winner", "random", "tic_tac_toe"), {"move_deadline": 5.0}, "deadline a move is none, not 5.0"),
    ]
    for arguments, options, words in wrong:
        with pytest.raises(SaveError, match=words):
            match(*arguments, games=4, out=out, **{**QUICK, **options})
    assert out.read_bytes() == content


@pytest.mark.parametrize("content", ["hello\n", "hello", '{"kind": "a game", "version": 1}\n', '{"a": 1}\n', "[]\n"])
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content):
    out = tmp_path / "m"
    out.write_text(content)
    with pytest.raises(SaveError, match="was not written by a match|holds a game"):
        match("winner", "random", "tic_tac_toe", games=4, out=out, **QUICK)
    assert out.read_text() == content


def test_a_damaged_file_is_reported(tmp_path):
    out = tmp_path / "m"
    match("winner", "random", "tic_tac_toe", games=4, out=out, **QUICK)
    content = out.read_text().splitlines(keepends=True)
    for damaged in ('{"index": 1}\n', "garbage\n", content[2].replace('"score": ', '"score": 7')):
        out.write_text("".join([content[0], content[1], damaged, *content[3:]]))
        with pytest.raises(SaveError, match="line 3 is not a valid game"):
            match("winner", "random", "tic_tac_toe", games=4, out=out, **QUICK)
    out.write_text(content[0].replace('"version": 1', '"version": 99'))
    with pytest.raises(SaveError, match="version 99"):
        match("winner", "random", "tic_tac_toe", games=4, out=out, **QUICK)


def test_two_processes_do_not_write_one_file(tmp_path):
    from filelock import FileLock

    out = tmp_path / "m"
    with FileLock(f"{out}.lock"), pytest.raises(SaveError, match="being written by another process"):
        match("winner", "random", "tic_tac_toe", games=4, out=out, **QUICK)


_PROGRAM = """
import sys
from treetop.arena.matches import match
if __name__ == "__main__":
    match("slow:0.02", "random", "tic_tac_toe", games=40, seed=9, workers=2, opening_plies=2, out=sys.argv[1],
          make_player="tests.arena.stand_ins:make")
    print("done")
"""


def start_program(tmp_path: Path, out: Path) -> subprocess.Popen:
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    return subprocess.Popen(
        [sys.executable, str(program), str(out)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_games(out: Path, games: int, process: subprocess.Popen) -> None:
    until = time.monotonic() + 60
    while not out.exists() or out.read_bytes().count(b"\n") <= games:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_match_that_is_killed_and_resumed_equals_one_that_was_not(tmp_path):
    out, whole = tmp_path / "killed.jsonl", tmp_path / "whole.jsonl"
    process = start_program(tmp_path, out)
    wait_for_games(out, 8, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert out.read_bytes().count(b"\n") < 41
    process = start_program(tmp_path, out)
    assert process.communicate(timeout=120)[0] == "done\n"
    options = {"games": 40, "seed": 9, "workers": 1, "opening_plies": 2, "make_player": MAKE}
    uninterrupted = match("slow:0.02", "random", "tic_tac_toe", out=whole, **options)
    assert played(out) == played(whole)
    assert len(lines(out)) == 41
    assert match("slow:0.02", "random", "tic_tac_toe", out=out, **options).to_dict() | {
        "out": ""
    } == uninterrupted.to_dict() | {"out": ""}


def test_forfeits_are_counted_and_do_not_end_a_match(tmp_path):
    result = match("quits", "random", "connect_four", games=6, out=tmp_path / "m", **QUICK)
    assert result.forfeits == {"A": 6, "B": 0}
    assert (result.wins, result.losses) == (0, 6)
    assert {game["reason"] for game in lines(tmp_path / "m")[1:]} == {"the engine has died"}
    assert "6 by quits" in str(result)
    late = match("random", "hangs", "tic_tac_toe", games=2, move_deadline=0.05, **QUICK)
    assert late.forfeits == {"A": 0, "B": 2}


def test_a_player_that_cannot_play_is_an_error_before_the_first_game(tmp_path):
    with pytest.raises(PlayerError, match="the engine plays by other rules"):
        match("random", "unfit", "tic_tac_toe", games=4, out=tmp_path / "m", **QUICK)
    assert not (tmp_path / "m").exists()


def test_players_are_prepared_before_their_first_game_in_every_process():
    result = match("prepares", "prepares", "tic_tac_toe", games=8, move_deadline=10, **{**QUICK, "workers": 2})
    assert result.forfeits == {"A": 0, "B": 0}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bug_stops_the_match_and_finished_games_are_safe(tmp_path, workers):
    out = tmp_path / "m"
    options = {**QUICK, "workers": workers, "seed": 4}
    with pytest.raises(
        MatchError, match="could not be played: ZeroDivisionError: a bug of ours; .* games are safe in"
    ) as caught:
        match("buggy", "random", "tic_tac_toe", games=60, out=out, **options)
    assert "stand_ins.py" in str(caught.value)
    errors = [line for line in lines(out)[1:] if "error" in line]
    games = [line for line in lines(out)[1:] if "error" not in line]
    assert errors
    assert len(games) + len(errors) < 20
    with pytest.raises(MatchError):
        match("buggy", "random", "tic_tac_toe", games=60, out=out, **options)
    assert {game["index"] for game in games} <= {record["index"] for record in read_match(out)[1]}


def test_a_killed_worker_costs_nothing_but_time(tmp_path):
    mark = tmp_path / "mark"
    result = match(f"kills_once:{mark}", "random", "tic_tac_toe", games=10, **{**QUICK, "workers": 2})
    assert mark.exists()
    assert result.complete
    assert result.forfeits == {"A": 0, "B": 0}


def test_a_test_ends_the_match_when_it_is_decided(tmp_path):
    out = tmp_path / "m"
    result = match("winner", "random", "connect_four", games=400, sprt=Sprt(0, 80), out=out, **QUICK)
    assert result.sprt is not None
    assert result.sprt.verdict is SprtVerdict.accept_h1
    assert result.games == 2 * result.sprt.pairs < 400
    assert result.complete
    assert len(lines(out)) == result.games + 1
    assert Sprt(0, 80).state(result.pentanomial) == result.sprt
    again = match("winner", "random", "connect_four", games=400, sprt=Sprt(0, 80), out=out, **QUICK)
    assert again == result


def test_the_verdict_of_a_test_does_not_depend_on_the_order_of_arrival(tmp_path):
    out = tmp_path / "m"
    match("winner", "random", "connect_four", games=200, out=out, **QUICK)
    alone = match("winner", "random", "connect_four", games=200, sprt=Sprt(0, 80), **QUICK)
    content = out.read_text().splitlines(keepends=True)
    out.write_text(content[0] + "".join(reversed(content[1:])))
    shuffled = match("winner", "random", "connect_four", games=200, sprt=Sprt(0, 80), out=out, **QUICK)
    assert shuffled.to_dict() | {"out": None, "finished": 0} == alone.to_dict() | {"finished": 0}
    assert shuffled.finished == 200
    assert len(lines(out)) == 201


def test_progress_is_reported_after_every_game():
    seen = []
    match("winner", "random", "tic_tac_toe", games=6, progress=seen.append, **QUICK)
    assert [now.result.finished for now in seen] == [1, 2, 3, 4, 5, 6]
    assert [now.result.games for now in seen] == [0, 2, 2, 4, 4, 6]
    assert seen[-1].rate > 0
    assert seen[-1].remaining == 0


def test_ctrl_c_gives_what_is_known_and_the_match_goes_on_later(tmp_path):
    out = tmp_path / "m"

    def press(now) -> None:
        if now.result.finished == 5:
            os.kill(os.getpid(), signal.SIGINT)

    half = match("winner", "random", "tic_tac_toe", games=20, out=out, progress=press, **QUICK)
    assert half.interrupted
    assert half.games == 4
    assert not half.complete
    assert "4 of 20 games" in str(half)
    whole = match("winner", "random", "tic_tac_toe", games=20, out=out, **QUICK)
    assert whole.to_dict() | {"out": None} == match("winner", "random", "tic_tac_toe", games=20, **QUICK).to_dict()


def test_a_player_against_itself_is_two_objects():
    result = match("random", "random", "connect_four", games=40, **QUICK)
    assert 0.2 < result.score < 0.8
    assert result.wins
    assert result.losses


def test_balanced_openings_are_the_default(tmp_path):
    match("random", "random", "tic_tac_toe", games=4, workers=1, make_player=MAKE, opening_plies=3, out=tmp_path / "m")
    assert lines(tmp_path / "m")[0]["openings"] == {
        "plies": 3,
        "balanced": True,
        "limit": 0.5,
        "simulations": 400,
        "tries": 40,
    }


def test_bad_matches_are_refused_before_anything_is_written(tmp_path):
    out = tmp_path / "m"
    wrong = [
        ({"games": 5}, "even number"),
        ({"games": 0}, "even number"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"workers": -1}, "workers must be"),
        ({"move_deadline": -1.0}, "move_deadline must be"),
        ({"make_player": "nowhere:make"}, "cannot be imported"),
    ]
    for options, words in wrong:
        with pytest.raises(ConfigError, match=words):
            match("random", "random", "tic_tac_toe", out=out, **{**QUICK, "games": 4, **options})
    with pytest.raises(ConfigError, match="no stand-in called 'nobody'"):
        match("random", "nobody", "tic_tac_toe", games=4, out=out, **QUICK)
    with pytest.raises(ConfigError, match="made <.*> of random, which is not a player"):
        match(
            "random",
            "random",
            "tic_tac_toe",
            games=4,
            out=out,
            **{**QUICK, "make_player": "tests.arena.stand_ins:make_nobody"},
        )
    with pytest.raises(ConfigError, match="needs a game for two"):
        match("random", "random", "tests.own_games:ThreeNim", games=4, **QUICK)
    for nowhere in (tmp_path / "nowhere" / "m", tmp_path):
        with pytest.raises(SaveError, match="cannot be written"):
            match("random", "random", "tic_tac_toe", games=4, out=nowhere, **QUICK)
    assert not list(tmp_path.iterdir())


def test_the_result_prints_itself_and_is_json():
    result = match("winner", "random", "tic_tac_toe", games=20, sprt=Sprt(0, 100), **QUICK)
    reported = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert reported["elo"].keys() == {"value", "low", "high"}
    assert sum(reported["pentanomial"]) * 2 == reported["games"]
    text = str(result)
    for words in (
        "winner against random: tic_tac_toe",
        "Elo",
        "normalized Elo",
        "SPRT",
        "LLR",
        "first player",
        "95% interval",
    ):
        assert words in text
