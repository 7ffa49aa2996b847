"""What can go wrong in a run: a clear error, and the last good state is kept."""

from __future__ import annotations

import errno
import json
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest

import treetop as tt

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

from treetop.errors import ConfigError, SaveError, TreetopError
from treetop.train import Run, TrainOptions
from treetop.train.folder import read_arrays, write_arrays

SMALL = {"slots": 16, "simulations": 4, "chunk": 128, "rating_games": 0}


def begin(folder, game="tic_tac_toe", **options):
    module = options.pop("module", None)
    return Run.create(folder, game, TrainOptions(**{**SMALL, **options}), module=module)


def test_a_full_disk_ends_a_run_and_it_can_be_continued(tmp_path, monkeypatch):
    run = begin(tmp_path / "run", iterations=4, deterministic=True)
    opened = Path.open

    def full(path, mode="r", *arguments, **options):
        if run.iteration >= 2 and mode == "xb":
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, mode, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(SaveError, match="No space left"):
            run.train()
    again = Run.open(tmp_path / "run")
    assert again.iteration == 1
    again.train()
    whole = begin(tmp_path / "whole", iterations=4, deterministic=True)
    whole.train()
    assert again.replay.digest() == whole.replay.digest()


def diverging(shape, actions, values):
    import math

    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.steps = torch.nn.Linear(math.prod(shape), actions + values), 0

        def forward(self, seen):
            self.steps += self.training
            found = self.layer(seen.flatten(1))
            if self.steps > 20:
                found = found * float("nan")
            return found[:, :actions], torch.tanh(found[:, actions:])

    return Network()


def test_a_network_that_becomes_nan_ends_the_run_and_the_last_one_is_kept(tmp_path):
    run = begin(tmp_path / "run", iterations=50, module=diverging)
    with pytest.raises(TreetopError, match="not finite"):
        run.train()
    assert run.iteration >= 1
    result = tt.search("tic_tac_toe", tt.puct(), evaluator=tt.load_model(tmp_path / "run"), simulations=20, seed=1)
    assert -1.0 <= result.value <= 1.0


def test_a_network_that_gives_nan_is_refused_by_a_search(tmp_path):
    model = tt.load_model(begin(tmp_path / "run").folder)
    model.run = lambda observed: tuple(array * float("nan") for array in type(model).run(model, observed))
    with pytest.raises(TreetopError, match="not numbers below infinity"):
        tt.search("tic_tac_toe", tt.puct(), evaluator=model, simulations=20, seed=1)


@tt.game(players=2, num_actions=3, max_length=21)
class Plain:
    """Take 1 to 3 of 21; the last one wins. There is no `observe`."""

    left = tt.field("i1")
    player = tt.field("i1")

    def reset(self):
        self.left = 21
        self.player = 0

    def legal_actions(self, out):
        count = min(3, self.left)
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        self.left -= action + 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.left == 0

    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 1.0


def test_a_game_without_observe_is_trained_on_its_fields(tmp_path):
    run = begin(tmp_path / "run", Plain, iterations=2)
    run.train()
    assert run.architecture.kind == "dense"
    assert tt.load_model(tmp_path / "run", game=Plain).architecture.observation == run.architecture.observation


def test_hidden_cards_are_no_observation_of_a_position(tmp_path):
    with pytest.raises(TreetopError, match="information"):
        begin(tmp_path / "run", "leduc_poker")


def test_a_folder_holds_one_run(tmp_path):
    pytest.importorskip("gymnasium", reason="needs the package gymnasium: pip install -e '.[gym]'")
    Run.create(tmp_path / "one", "tic_tac_toe", TrainOptions())
    with pytest.raises(ConfigError, match="holds a training run already"):
        tt.train.MuZeroRun.create(tmp_path / "one", "CartPole-v1", tt.train.MuZeroOptions())
    tt.train.MuZeroRun.create(tmp_path / "two", "CartPole-v1", tt.train.MuZeroOptions())
    with pytest.raises(ConfigError, match="holds a training run already"):
        Run.create(tmp_path / "two", "tic_tac_toe", TrainOptions())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "run"
    tt.train("tic_tac_toe", out=folder, iterations=2, **SMALL)
    return folder


@pytest.mark.parametrize(
    "change",
    [
        {"averaged.parts.policy.weight": np.zeros((1, 1), np.float32)},
        {"optimiser.0.exp_avg": None},
        {"optimiser.0.exp_avg": np.zeros((), np.float32)},
        {"values.spread": np.zeros(1)},
        {"more": np.zeros(1)},
    ],
)
def test_a_damaged_checkpoint_is_refused_and_named(trained, tmp_path, change):
    shutil.copytree(trained, tmp_path / "run")
    path = tmp_path / "run" / "learner.safetensors"
    arrays, about = read_arrays(path)
    for name, array in change.items():
        if array is None:
            del arrays[name]
        else:
            arrays[name] = array
    write_arrays(path, arrays, about)
    with pytest.raises(SaveError, match="learner.safetensors is not the checkpoint of this run"):
        Run.open(tmp_path / "run")


def test_weights_that_are_not_finite_are_refused(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "run")
    path = tmp_path / "run" / "learner.safetensors"
    arrays, about = read_arrays(path)
    assert about["steps"] > 0
    arrays["averaged.parts.policy.bias"][0] = np.nan
    write_arrays(path, arrays, about)
    with pytest.raises(SaveError, match="averaged.parts.policy.bias is not finite"):
        Run.open(tmp_path / "run")


@pytest.mark.parametrize(
    "change",
    [{"iteration": -1}, {"iteration": 10**30}, {"steps": 10**30}, {"seconds": 1e300}, {"games": 1.5}, {"total": -1}],
)
def test_impossible_numbers_of_a_checkpoint_are_refused(trained, tmp_path, change):
    shutil.copytree(trained, tmp_path / "run")
    path = tmp_path / "run" / "learner.safetensors"
    arrays, about = read_arrays(path)
    write_arrays(path, arrays, about | change)
    with pytest.raises(
        SaveError, match=f"learner.safetensors is not the checkpoint of this run: {next(iter(change))} must"
    ):
        Run.open(tmp_path / "run")


def test_options_without_effect_are_refused():
    for options in ({"noise": 0.1}, {"fast_simulations": 3}, {"accept_every": 3}, {"deterministic": True}):
        with pytest.raises(ConfigError, match="no effect without|needs iterations"):
            TrainOptions(**options)


def test_a_continued_run_keeps_its_options(tmp_path):
    options = {"iterations": 1, "slots": 16, "simulations": 4, "chunk": 64, "rating_games": 0}
    tt.train("tic_tac_toe", out=tmp_path / "run", **options)
    more = tt.train("tic_tac_toe", out=tmp_path / "run", resume=True, **{**options, "iterations": 2})
    assert more.iteration == 2
    with pytest.raises(ConfigError, match="has simulations=4, which cannot change"):
        tt.train("tic_tac_toe", out=tmp_path / "run", resume=True, **{**options, "simulations": 8})


def test_seconds_of_a_rating_count_after_a_restart(tmp_path):
    run = Run.create(tmp_path / "run", "tic_tac_toe", TrainOptions(minutes=1, slots=8, rating_games=0))
    line = {"event": "rated", "iteration": 0, "seconds": 40.0, "scores": {}}
    (run.folder / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    assert Run.open(run.folder).seconds == 40.0


def test_two_processes_do_not_train_one_run(tmp_path):
    run = begin(tmp_path / "run", iterations=2)
    refused = []

    def other(_):
        with pytest.raises(SaveError, match="is being trained by another process") as found:
            Run.open(tmp_path / "run").train()
        with pytest.raises(SaveError, match="is being trained by another process"):
            Run.open(tmp_path / "run", iterations=9)
        refused.append(found)

    run.train(other)
    assert len(refused) == run.iteration == 2
    assert Run.open(tmp_path / "run").options.iterations == 2


def test_a_run_that_was_trained_elsewhere_meanwhile_has_to_be_opened_again(tmp_path):
    run = begin(tmp_path / "run", iterations=1)
    Run.open(tmp_path / "run").train()
    positions = Run.open(tmp_path / "run").replay.total
    with pytest.raises(SaveError, match="at iteration 1 on the disk, and at 0 here"):
        run.train()
    assert Run.open(tmp_path / "run").replay.total == positions


def test_whoever_may_read_new_files_may_read_a_run(tmp_path):
    run = begin(tmp_path / "run", iterations=1)
    run.train()
    (tmp_path / "new").touch()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "run").iterdir() if path.is_file()}
    assert modes == {stat.S_IMODE((tmp_path / "new").stat().st_mode)}


def test_files_that_a_kill_has_left_incomplete_are_removed(tmp_path):
    run = begin(tmp_path / "run", iterations=1)
    for name in ("learner.safetensors.ab12cd34.part", "model.json.0123abcd.part"):
        (tmp_path / "run" / name).write_bytes(b"half")
    (tmp_path / "run" / "mine.part").write_bytes(b"kept")
    run.train()
    assert [path.name for path in (tmp_path / "run").glob("*.part")] == ["mine.part"]
