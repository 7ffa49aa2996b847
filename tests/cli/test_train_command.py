"""train, runs and export."""

from __future__ import annotations

import json
import sys

import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

QUICK = (
    *("--iterations", "1", "--minutes", "0.2", "--slots", "8", "--simulations", "4", "--size", "tiny"),
    *("--workers", "1"),
)


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
    assert "page.html" in run("runs", "one", "--report", "page.html").out
    assert "report: one/report.html" in trained.out
    exported = run("export", "one", "model.onnx")
    assert "9 actions" in exported.out
    played = run("play", "tic_tac_toe", "--model", "one", "--player", "none", "--simulations", "10", "--seed", "1")
    assert played.code == 0, played.err


def test_a_run_is_continued(run, trained):
    again = run("train", "--resume", "one", "--json", "--workers", "1")
    assert again.code == 0, again.err
    assert json.loads(again.out)["iterations"] == 1  # there is nothing left to do
    more = run("train", "--resume", "one", "--iterations", "2", "--json", "--workers", "1")
    assert json.loads(more.out)["iterations"] == 2


OWN = """
import treetop as tt


@tt.game(players=1, num_actions=2, max_length=4)
class Own:
    count = tt.field("i1")

    def reset(self):
        self.count = 0

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        return 2

    def apply(self, action):
        self.count += action + 1

    def is_terminal(self):
        return self.count >= 4

    def rewards(self, out):
        out[0] = 1.0 if self.count == 4 else -1.0
"""


def test_a_game_of_the_user_has_to_be_named_again(run, tmp_path):
    (tmp_path / "own_rules.py").write_text(OWN)
    assert run("train", "own_rules:Own", "--out", "one", *QUICK).code == 0
    for command in (("train", "--resume", "one"), ("export", "one", "x.onnx")):
        ended = run(*command)
        assert ended.code == 2
        assert "'own_rules:Own', which imports a module" in ended.err
        assert "give the game again" in ended.err
    again = run("train", "own_rules:Own", "--resume", "one", "--iterations", "2", "--workers", "1")
    assert again.code == 0, again.err
    assert run("export", "one", "x.onnx", "--game", "own_rules:Own").code == 0
    wrong = run("train", "tic_tac_toe", "--resume", "one")
    assert "one is of own_rules:Own, not of tic_tac_toe" in wrong.err


def test_commands_that_are_printed_can_be_pasted(run):
    ended = run("train", "nim(stones=5)", "--out", "my run", *QUICK)
    assert "treetop play 'nim(stones=5" in ended.out
    assert "--model 'my run'" in ended.out


def test_a_missing_tensorboard_is_an_error_before_the_run(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    ended = run("train", "tic_tac_toe", "--out", "one", "--tensorboard", *QUICK)
    assert ended.code == 1
    assert 'pip install -e ".[tensorboard]"' in ended.err
    assert not (tmp_path / "one").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a game and a folder"),
        (("tic_tac_toe",), "give a game and a folder"),
        (("no_such_game", "--out", "x"), "no_such_game"),
        (("tic_tac_toe", "--out", "x", "--size", "huge"), "size"),
        (("tic_tac_toe", "--out", "x", "--minutes", "-1"), "minutes"),
        (("tic_tac_toe", "--out", "x", "--workers", "0"), "workers must be a whole number"),
        (("tic_tac_toe", "--out", "/proc/x"), "the folder /proc/x/data cannot be made"),
        (("tic_tac_toe", "--out", "x", "--module", "own_network"), "--module is MODULE:NAME"),
        (("--resume", "nowhere"), "there is no file nowhere/run.json"),
        (("--resume", "nowhere", "--slots", "3"), "--resume"),
        (("goofspiel", "--out", "x"), "cannot be trained: games with imperfect information"),
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


def test_settings_come_from_a_file_and_options_come_first(run, tmp_path):
    (tmp_path / "run.toml").write_text(
        'game = "tic_tac_toe"\nslots = 8\nsimulations = 4\nsize = "small"\niterations = 1\nchunk = 64\nrating_games = 0\n'
        'rule = "puct"\nsurprise = 0.5\n[learner]\nbatch = 32\n'
    )
    ended = run("train", "--out", "one", "--config", "run.toml", "--size", "tiny", "--json", "--workers", "1")
    assert ended.code == 0, ended.err
    options = json.loads((tmp_path / "one" / "run.json").read_text())["options"]
    assert (options["size"], options["rule"], options["learner"]["batch"]) == ("tiny", "puct", 32)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("minutes = ", "not a TOML file"),
        ("minuts = 3", "did you mean minutes"),
        ("learner = 3", "settings of the learner"),
        ("[learner]\nrat = 1", "did you mean rate"),
        ('resign = "often"', "resign"),
    ],
)
def test_a_wrong_file_of_settings_is_refused(run, tmp_path, content, message):
    (tmp_path / "run.toml").write_text(content)
    ended = run("train", "tic_tac_toe", "--out", "one", "--config", "run.toml")
    assert ended.code == 2
    assert message in " ".join(ended.err.split())
    assert not (tmp_path / "one").exists()


def test_a_network_of_the_user_is_named_by_its_module(run, tmp_path):
    (tmp_path / "own_network.py").write_text(
        "import math, torch\n"
        "def make(shape, actions, values):\n"
        "    class Net(torch.nn.Module):\n"
        "        def __init__(self):\n"
        "            super().__init__()\n"
        "            self.layer = torch.nn.Linear(math.prod(shape), actions + values)\n"
        "        def forward(self, seen):\n"
        "            found = self.layer(seen.flatten(1))\n"
        "            return found[:, :actions], torch.tanh(found[:, actions:])\n"
        "    return Net()\n"
    )
    ended = run("train", "tic_tac_toe", "--out", "one", "--module", "own_network:make", *QUICK)
    assert ended.code == 0, ended.err
    assert (tmp_path / "one" / "model.onnx").exists()
    wrong = run("train", "tic_tac_toe", "--out", "two", "--module", "own_network:nothing", *QUICK)
    assert wrong.code == 2
    assert "nothing" in wrong.err
