"""muzero."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")
pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install -e '.[gym]'")

QUICK = ("--steps", "256", "--simulations", "4", "--copies", "8")


@pytest.fixture
def trained(run):
    ended = run("muzero", "CartPole-v1", "--out", "one", "--seed", "3", *QUICK)
    assert ended.code == 0, ended.err
    return ended


def test_a_model_is_learned_and_plays(run, trained):
    assert "256 steps" in trained.out
    assert "treetop muzero --play one" in trained.out
    played = run("muzero", "--play", "one", "--episodes", "3", "--seed", "2")
    assert "CartPole-v1, 3 episodes: mean return" in played.out
    found = json.loads(run("muzero", "--play", "one", "--episodes", "3", "--seed", "2", "--json").out)
    assert found["env"] == "CartPole-v1"
    assert len(found["evaluation"]["returns"]) == found["evaluation"]["episodes"] == 3


def test_a_run_is_continued(run, trained):
    again = run("muzero", "--resume", "one", "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["steps"] == 256  # there is nothing left to do
    ended = run("muzero", "--resume", "one", "--episodes", "2")
    assert "2 episodes" in ended.out


def test_your_own_environment_is_named_by_its_module(run, tmp_path):
    (tmp_path / "my_cart.py").write_text(
        "from gymnasium import register\n"
        "register('MyCart-v0', 'gymnasium.envs.classic_control:CartPoleEnv', max_episode_steps=20)\n"
    )
    ended = run("muzero", "my_cart:MyCart-v0", "--out", "one", *QUICK, "--episodes", "2")
    assert "my_cart:MyCart-v0, 2 episodes" in ended.out
    refused = run("muzero", "--play", "one")
    assert refused.code == 2
    assert "give the environment again" in " ".join(refused.err.split())
    assert run("muzero", "my_cart:MyCart-v0", "--play", "one", "--episodes", "2").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give an environment and a folder"),
        (("CartPole-v1",), "give an environment and a folder"),
        (("NoSuchEnvironment-v0", "--out", "x"), "NoSuchEnvironment"),
        (("Pendulum-v1", "--out", "x"), "must be Discrete"),
        (("CartPole-v1", "--out", "x", "--minutes", "-1"), "minutes"),
        (("CartPole-v1", "--out", "x", "--simulations", "1"), "simulations"),
        (("CartPole-v1", "--out", "x", "--discount", "2"), "discount"),
        (("--resume", "nowhere"), "there is no file nowhere/muzero.json"),
        (("--resume", "nowhere", "--copies", "3"), "--resume"),
        (("--play", "nowhere"), "there is no file nowhere/muzero.json"),
        (("--play", "nowhere", "--minutes", "3"), "--play"),
    ],
)
def test_wrong_arguments_are_refused(run, arguments, message):
    ended = run("muzero", *arguments)
    assert ended.code == 2
    assert message in " ".join(ended.err.split())
