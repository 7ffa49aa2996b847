"""train, runs and export."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

QUICK = ("--iterations", "1", "--slots", "8", "--simulations", "4", "--size", "tiny")


@pytest.fixture
def trained(run):
    ended = run("train", "tic_tac_toe", "--out", "one", *QUICK)
    assert ended.code == 0, ended.err
    return ended


def test_a_run_is_trained_listed_exported_and_played(run, trained):
    assert "1 iterations" in trained.out
    assert "treetop play tic_tac_toe --model one" in trained.out
    assert "tic_tac_toe" in run("runs").out
    listed = json.loads(run("runs", "--json").out)
    assert (listed[0]["run"], listed[0]["game"]) == ("one", "tic_tac_toe")
    assert listed[0]["positions"] > 0
    assert "curves.png" in run("runs", "one", "--plot", "curves.png").out
    exported = run("export", "one", "model.onnx")
    assert "9 actions" in exported.out
    played = run("play", "tic_tac_toe", "--model", "one", "--player", "none", "--simulations", "10", "--seed", "1")
    assert played.code == 0, played.err


def test_a_run_is_continued(run, trained):
    again = run("train", "--resume", "one", "--minutes", "1", "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["iterations"] == 1  # there is nothing left to do


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a game and a folder"),
        (("tic_tac_toe",), "give a game and a folder"),
        (("no_such_game", "--out", "x"), "no_such_game"),
        (("tic_tac_toe", "--out", "x", "--size", "huge"), "size"),
        (("tic_tac_toe", "--out", "x", "--minutes", "-1"), "minutes"),
        (("--resume", "nowhere"), "there is no file nowhere/run.json"),
        (("--resume", "nowhere", "--slots", "3"), "--resume"),
        (("goofspiel", "--out", "x"), "information-set"),
    ],
)
def test_wrong_arguments_are_refused(run, arguments, message):
    ended = run("train", *arguments)
    assert ended.code == 2
    assert message in " ".join(ended.err.split())


def test_a_folder_without_runs_is_an_error(run):
    ended = run("runs")
    assert ended.code == 2
    assert "there is no training run" in ended.err


def test_a_model_that_does_not_exist_is_refused(run):
    assert run("play", "tic_tac_toe", "--model", "nowhere").code == 2
    assert run("export", "nowhere", "x.onnx").code == 2
