"""MuZero: a grid world to its optimum, targets, files, bad input."""

from __future__ import annotations

import json
import signal
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")
gymnasium = pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install -e '.[gym]'")

import learned_model  # noqa: E402 - the example, which needs both

import treetop as tt  # noqa: E402
from treetop.adapters.gym_copies import Copies  # noqa: E402
from treetop.errors import ConfigError, MissingExtraError, SaveError, SearchError  # noqa: E402
from treetop.train.muzero import MuZeroOptions, MuZeroRun, read_muzero_events  # noqa: E402
from treetop.train.muzero.learner import ModelLearner  # noqa: E402
from treetop.train.muzero.network import Shape, represent, step  # noqa: E402
from treetop.train.muzero.play import Playing  # noqa: E402
from treetop.train.muzero.replay import TERMINATED, TRUNCATED, Steps  # noqa: E402

QUICK = {"steps": 256, "random_steps": 64, "reuse": 4.0, "copies": 8, "simulations": 4, "hidden": 16, "latent": 8}


def begin(folder, env="CartPole-v1", **options):
    return MuZeroRun.create(folder, env, MuZeroOptions.from_dict(QUICK | options))


# Learning.


def test_a_grid_world_is_solved_to_its_optimum(tmp_path):
    run = tt.train.muzero(learned_model.GridWorld, out=tmp_path / "run", **learned_model.OPTIONS)
    shortest = learned_model.distances()
    policy = run.policy()
    for start in learned_model.STARTS:
        cell, moves = start, 0
        while cell != learned_model.GOAL and moves < 30:
            cell, moves = learned_model.walk(cell, policy(learned_model.CELLS.index(cell))), moves + 1
        assert moves == shortest[start], start
    episodes = run.evaluate(40)
    assert episodes.returns == (1.0,) * 40
    assert max(episodes.lengths) <= max(shortest.values())


def test_equal_seeds_give_equal_runs_and_others_differ(tmp_path):
    def weights(name, seed):
        return (begin(tmp_path / name, seed=seed).train()).weights["value.weight"].tolist()

    assert weights("a", 1) == weights("b", 1) != weights("c", 2)


def test_searches_and_training_run_the_same_network():
    shape = Shape(3, 2, 5, 7, 4)
    weights = {name: array + 0.1 for name, array in shape.new_weights(1).items()}
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
    seen, actions = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32), np.array([0, 1, 0, 1, 1, 0])
    latents = represent(weights, seen)
    assert latents == pytest.approx(represent(tensors, torch.from_numpy(seen)).numpy(), abs=1e-5)
    assert (latents.min(axis=1) == 0.0).all()
    assert latents.max(axis=1) == pytest.approx(np.ones(6), abs=1e-3)
    following, rewards = step(weights, latents, actions)
    again = step(tensors, torch.from_numpy(latents), torch.from_numpy(actions))
    assert following == pytest.approx(again[0].numpy(), abs=1e-5)
    assert rewards == pytest.approx(again[1].numpy(), abs=1e-5)


# Targets.


def steps_of(ends, *, unroll=3):
    """Steps of one copy with these ends; the reward of step n is n, its value is 100 + n."""
    steps = Steps(1, 1, 2, 100)
    for moment, end in enumerate(ends):
        steps.add(
            observations=np.full((1, 1), moment), actions=np.array([0]), rewards=np.array([moment]),
            ends=np.array([end]), policies=np.full((1, 2), 0.5), values=np.array([100 + moment]),
        )  # fmt: skip
    return steps


def targets(steps, discount, bootstrap):
    steps.set_targets(discount, bootstrap)
    return steps._targets[:, 0].tolist()


def test_values_are_bootstrapped_after_some_rewards():
    found = targets(steps_of([0] * 6), 0.5, 2)
    assert found[0] == 0 + 0.5 * 1 + 0.25 * 102
    assert found[3] == 3 + 0.5 * 4 + 0.25 * 105
    assert found[4:] == [4 + 0.5 * 105, 105]  # the newest ones have fewer rewards


def test_an_end_has_no_value_and_a_cut_is_no_end():
    assert targets(steps_of([0, 0, TERMINATED, 0, 0, 0]), 0.5, 3)[:3] == [0 + 0.5 * 1 + 0.25 * 2, 1 + 0.5 * 2, 2]
    assert targets(steps_of([0, 0, TRUNCATED, 0, 0, 0]), 0.5, 3)[:3] == [0 + 0.5 * 1 + 0.25 * 102, 1 + 0.5 * 102, 102]


def test_states_after_an_end_are_worth_nothing_and_those_after_a_cut_are_not_learned():
    for end, weight in ((TERMINATED, 1.0), (TRUNCATED, 0.0)):
        steps = steps_of([0, end, 0, 0])
        steps.set_targets(0.5, 1)
        drawn = steps.draw(np.random.default_rng(1), 1, 3)  # there is one place for it to begin
        assert drawn.rewards[0].tolist() == [0.0, 1.0, 0.0]
        assert drawn.reward_weights[0].tolist() == [1.0, 1.0, weight]
        assert drawn.values[0, 2:].tolist() == [0.0, 0.0]
        assert drawn.value_weights[0].tolist() == [1.0, 1.0, weight, weight]
        assert drawn.policy_weights[0].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_the_newest_steps_are_kept():
    steps = Steps(2, 1, 2, 10)
    for moment in range(23):
        row = np.full(2, moment)
        steps.add(
            observations=row[:, None], actions=row, rewards=row, ends=row * 0, policies=np.ones((2, 2)), values=row
        )
        assert len(steps) == min(moment + 1, 5)
        assert steps["rewards"][:, 0].tolist() == list(range(max(0, moment - 4), moment + 1))


# Files.


def use(folder):
    run = MuZeroRun.open(folder)
    run.network()
    run.train()


def test_a_run_is_saved_and_continued(tmp_path):
    run = begin(tmp_path / "run", steps=None, minutes=1e-9)
    run.train()
    first = run.steps
    again = MuZeroRun.open(tmp_path / "run", minutes=0.005)
    assert (again.steps, again.seconds, again.env) == (first, run.seconds, "CartPole-v1")
    again.train()
    assert again.steps > first
    assert MuZeroRun.open(tmp_path / "run").steps == again.steps
    events = list(read_muzero_events(tmp_path / "run"))
    assert events == again.events
    assert [event.iteration for event in events] == list(range(1, len(events) + 1))
    assert again.evaluate(3).mean >= 1
    steps = again.steps + 1
    assert MuZeroRun.open(tmp_path / "run", steps=steps).options.steps == steps


def test_playing_needs_no_torch(tmp_path, monkeypatch):
    begin(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert len(MuZeroRun.open(tmp_path / "run").evaluate(2).returns) == 2


def test_a_checkpoint_continues_the_learner_exactly(tmp_path):
    def learner():
        return ModelLearner(Shape(1, 2, 4, 8, 5), options, np.ones(1, np.bool_))

    options = MuZeroOptions.from_dict(QUICK)
    steps, whole, parts = steps_of([0, 0, 1] * 10), learner(), learner()
    whole.observe(steps["observations"][0])
    whole.train(steps, 3, 0.0)
    parts.restore(whole.state(), whole.steps, whole.rng_state, "here")
    assert parts.train(steps, 3, 0.5) == whole.train(steps, 3, 0.5)
    assert all((parts.state()[name] == array).all() for name, array in whole.state().items())


def test_ctrl_c_keeps_what_was_learned(tmp_path, monkeypatch):
    run, step, count = begin(tmp_path / "run", steps=10**9), Playing.step, iter(range(10**6))

    def interrupted(*args, **options):
        if next(count) == 20:
            signal.raise_signal(signal.SIGINT)
        return step(*args, **options)

    monkeypatch.setattr(Playing, "step", interrupted)
    run.train()
    assert 0 < MuZeroRun.open(tmp_path / "run").steps == run.steps < 1000


@pytest.mark.parametrize("name", ["muzero.json", "model.safetensors", "learner.safetensors", "steps.safetensors"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\x80\x04N."])
def test_damaged_files_are_refused(tmp_path, name, content):
    begin(tmp_path / "run", steps=64).train()
    (tmp_path / "run" / name).write_bytes(content)
    with pytest.raises(SaveError, match=name.replace(".", r"\.")):
        use(tmp_path / "run")


def test_weights_that_are_not_finite_are_refused(tmp_path):
    run = begin(tmp_path / "run")
    network = run.network()
    network.weights["policy.bias"][0] = np.nan
    run._save_model(network)
    with pytest.raises(SaveError, match="not finite"):
        run.network()


def test_a_file_imports_no_module(tmp_path):
    begin(tmp_path / "run")
    file = tmp_path / "run" / "muzero.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "env": "antigravity:CartPole-v1"}))
    with pytest.raises(SaveError, match="give the environment again"):
        MuZeroRun.open(tmp_path / "run")
    assert "antigravity" not in sys.modules
    assert MuZeroRun.open(tmp_path / "run", env="CartPole-v1").shape.actions == 2


def test_a_run_is_not_continued_with_another_environment(tmp_path):
    begin(tmp_path / "run")
    with pytest.raises(SaveError, match="other observations or actions"):
        MuZeroRun.open(tmp_path / "run", env="Acrobot-v1")


def test_a_folder_holds_one_run(tmp_path):
    begin(tmp_path / "run")
    with pytest.raises(ConfigError, match="already"):
        begin(tmp_path / "run")


# Bad input.


class Odd(gymnasium.Env):
    """An environment with any spaces, and rewards that may be wrong."""

    def __init__(self, observation, action, reward=0.0):
        self.observation_space, self.action_space, self.reward = observation, action, reward

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), self.reward, False, False, {}


BOX, DISCRETE = gymnasium.spaces.Box(-1.0, 1.0, (2,)), gymnasium.spaces.Discrete(3, start=5)


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("NoSuchEnvironment-v0", "NoSuchEnvironment"),
        ("no_such_module:Env-v0", "no_such_module"),
        (3, "the name of a Gymnasium environment or a function"),
        (lambda: 3, "the name of a Gymnasium environment or a function"),
        ("Pendulum-v1", "must be Discrete"),
        (lambda: Odd(gymnasium.spaces.Box(0, 255, (8, 8, 3), np.uint8), DISCRETE), "no image"),
        (lambda: Odd(gymnasium.spaces.Dict({"a": BOX}), DISCRETE), "FlattenObservation"),
        (lambda: Odd(gymnasium.spaces.Discrete(10**6), DISCRETE), "at most 4,096 features"),
    ],
)
def test_environments_that_cannot_be_learned_are_refused_and_no_folder_is_made(tmp_path, env, message):
    with pytest.raises(ConfigError, match=message):
        begin(tmp_path / "run", env)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_rewards_that_are_not_finite_are_refused(tmp_path, reward):
    with pytest.raises(ConfigError, match="not finite"):
        begin(tmp_path / "run", lambda: Odd(BOX, DISCRETE, reward)).train()


def test_actions_may_be_counted_from_any_number(tmp_path):
    run = begin(tmp_path / "run", lambda: Odd(BOX, DISCRETE), steps=64)
    run.train()
    assert run.policy()(np.zeros(2)) in (5, 6, 7)


def test_a_loss_that_is_not_finite_ends_the_run(tmp_path):
    with pytest.raises(SearchError, match="lower the learning rate"):
        begin(tmp_path / "run", rate=1e30, reuse=64.0).train()


def test_whole_numbers_become_features():
    copies = Copies(lambda: Odd(gymnasium.spaces.MultiDiscrete([2, 3]), DISCRETE), 4, 1)
    assert copies.observations.shape == (4, 5)
    assert copies.observations.sum(axis=1).tolist() == [2.0] * 4
    assert not copies.continuous.any()


@pytest.mark.parametrize(("package", "extra"), [("torch", "torch"), ("gymnasium", "gym")])
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf'pip install -e "\.\[{extra}\]"'):
        begin(tmp_path / "run")


@pytest.mark.parametrize(
    "options",
    [{"minutes": 0}, {"simulations": 1}, {"discount": 1.5}, {"copies": 0}, {"rate": -1}, {"latent": 1}, {"stesp": 3}],
    ids=str,
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ConfigError):
        MuZeroOptions.from_dict(options)


@pytest.mark.parametrize("episodes", [0, -1, 1.5])
def test_wrong_numbers_of_episodes_are_refused(tmp_path, episodes):
    with pytest.raises(ConfigError, match="episodes"):
        begin(tmp_path / "run").evaluate(episodes)


def test_two_processes_do_not_train_one_run(tmp_path):
    run, refused = begin(tmp_path / "run"), []

    def other(_):
        with pytest.raises(SaveError, match="is being trained by another process") as found:
            MuZeroRun.open(tmp_path / "run").train()
        refused.append(found)

    run.train(other)
    assert refused
