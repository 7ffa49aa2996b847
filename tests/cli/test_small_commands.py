"""games, check, bench and warmup."""

from __future__ import annotations

import json

import pytest

from treetop.cli import warmup
from treetop.game.registry import BUNDLED, load_game
from treetop.oracle.perft import perft


def test_games_lists_every_bundled_game(run):
    out = run("games").out
    assert all(load_game(name).name in out for name in BUNDLED)


def test_games_as_json_holds_the_facts(run):
    found = {game["family"]: game for game in json.loads(run("games", "--json").out)}
    assert found["nim"]["parameters"] == {"stones": 21, "most": 3}
    assert found["nim"]["players"] == 2
    assert found["nim"]["max_length"] == 21
    assert (found["othello"]["observation_shape"], found["othello"]["symmetries"]) == ([3, 8, 8], 4)


def test_one_game_shows_its_board_parameters_and_digest(run):
    out = run("games", "nim(stones=7)").out
    assert "stones=7, most=3" in out
    assert "||||||| 7 left" in out
    assert load_game("nim(stones=7)").digest in out
    message = json.loads(run("games", "nim(stones=7)", "--json").out)
    assert message["rules"] == load_game("nim(stones=7)").digest
    assert message["moves"] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("game", "observation", "symmetries"),
    [
        ("hex(size=7)", "(4, 7, 7)", "2, with the identity"),
        ("nim", "(23,)", "none"),
        ("tests.all_kinds:Drift", "(4,), the default encoding of its fields", "none"),
        ("tests.all_kinds:Secret", "none: the class has no method observe", "none"),
    ],
)
def test_one_game_shows_its_observations_and_symmetries(run, game, observation, symmetries):
    lines = run("games", game).out.splitlines()
    assert f"observation   {observation}" in lines
    assert f"symmetries    {symmetries}" in lines


@pytest.mark.parametrize(
    ("game", "moves"),
    [
        ("matching_pennies", ["heads/heads", "heads/tails", "tails/heads", "tails/tails"]),
        ("kuhn_poker", ["J", "Q", "K"]),
        ("tests.all_kinds:Drift", []),
    ],
)
def test_games_of_every_kind_describe_how_they_begin(run, game, moves):
    assert json.loads(run("games", game, "--json").out)["moves"] == moves
    assert (" ".join(moves) or "continuous") in run("games", game).out


def test_check_reports_what_held(run):
    ended = run("check", "nim", "--games", "20", "--seed", "3")
    assert ended.code == 0
    assert "meets all requirements" in ended.out
    message = json.loads(run("check", "nim", "--games", "20", "--seed", "3", "--json").out)
    assert message["games"] == 20
    assert message["requirements"]


def test_a_check_ends_with_its_time_budget_and_says_so(run):
    ended = run("check", "tic_tac_toe", "--games", "1000000", "--seconds", "0.2")
    assert ended.code == 0
    assert "the time budget of 0.2 s ended the check" in ended.out
    reported = json.loads(run("check", "nim", "--seconds", "inf", "--games", "5", "--json").out)
    assert (reported["games"], reported["seconds"]) == (5, None)
    assert run("check", "nim", "--seconds", "0").code == 2


def test_the_same_seed_checks_the_same_games(run):
    first, second, other = (
        json.loads(run("check", "nim", "--games", "20", "--seed", seed, "--json").out) for seed in (1, 1, 2)
    )
    assert first["moves"] == second["moves"] != other["moves"]


def test_bench_measures_each_game(run):
    message = json.loads(run("bench", "nim", "tic_tac_toe", "--simulations", "500", "--repeat", "3", "--json").out)
    assert [row["game"] for row in message["games"]] == ["nim(stones=21, most=3)", "tic_tac_toe"]
    for row in message["games"]:
        speed = row["simulations_per_second"]
        assert 0 < speed["low"] <= speed["value"] <= speed["high"]
        assert len(row["rates"]) == 3
        assert row["bytes_per_node"] <= 32
        assert row["nodes"] > 1


def test_bench_in_words_names_the_unit(run):
    assert "simulations a second" in run("bench", "nim", "--simulations", "100", "--repeat", "1").out


def test_warmup_says_where_the_code_is(run):
    ended = run("warmup", "nim")
    assert ended.code == 0
    assert ended.out.startswith("nim(stones=21, most=3): ")
    assert "cache: " in ended.out


def test_warmup_into_a_cache_that_cannot_be_written_is_no_success(run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TREETOP_CACHE", str(tmp_path / "file" / "cache"))
    load_game("tic_tac_toe")._engines.clear()
    monkeypatch.setattr(
        warmup, "prepare", lambda game: (float(perft(game, 1)), False)
    )  # a small kernel: all are kept alike
    ended = run("warmup", "tic_tac_toe", "connect_four", "--json")
    assert ended.code == 2
    assert [(row["game"], row["kept"]) for row in json.loads(ended.out)["games"]] == [
        ("tic_tac_toe", False)
    ]  # it goes no further
    assert (
        f"could not be saved in {tmp_path}/file/cache: Not a directory; set TREETOP_CACHE to a folder that can be written"
        in ended.err
    )
    load_game("tic_tac_toe")._engines.clear()


def test_warmup_compiles_the_loop_for_python_problems_by_its_name(run):
    ended = run("warmup", "python_problem", "--json")
    assert ended.code == 0
    assert [(row["game"], row["kept"]) for row in json.loads(ended.out)["games"]] == [("python_problem", True)]


def test_warmup_covers_all_games_and_python_problems_by_default(run, monkeypatch):
    monkeypatch.setattr(warmup, "prepare", lambda game: (0.0, True))
    rows = json.loads(run("warmup", "--json").out)["games"]
    assert [load_game(row["game"]).family for row in rows[:-1]] == [load_game(name).family for name in sorted(BUNDLED)]
    assert rows[-1]["game"] == "python_problem"


def test_a_warm_game_searches_with_its_recommended_settings_without_compiling(run):
    run("warmup", "nim")
    assert "compiling" not in run("search", "nim", "--simulations", "50").err


@pytest.mark.slow
def test_what_warmup_compiled_is_there_for_the_next_process_until_it_is_cleared(shell, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("TREETOP_CACHE", str(cache))

    def warm(*args: str) -> dict[str, object]:
        return json.loads(shell("warmup", "nim", "--json", *args).out)

    assert warm()["games"][0]["from_cache"] is False
    assert warm()["games"][0]["from_cache"] is True
    (cache / "a friend's file").write_text("keep me")
    (cache / "notes-0123456789abcdef").mkdir()
    (cache / "notes-0123456789abcdef" / "diary.txt").write_text("keep me too")
    cleared = warm("--clear")
    assert cleared["folder"] == str(cache)
    assert cleared["removed"] >= 1
    assert cleared["games"][0]["from_cache"] is False
    assert (cache / "a friend's file").read_text() == "keep me"
    assert (cache / "notes-0123456789abcdef" / "diary.txt").read_text() == "keep me too"
