"""Self-play in other processes: one learner, and a lost worker costs its games in progress."""

from __future__ import annotations

import os
import signal

import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

from treetop.errors import ConfigError
from treetop.train import Run, TrainOptions
from treetop.train.remote import RemotePlay

SMALL = {"slots": 16, "simulations": 4, "chunk": 256, "rating_games": 0, "iterations": 3}


def begin(folder, **options):
    return Run.create(folder, "tic_tac_toe", TrainOptions(**{**SMALL, **options}))


def test_workers_play_and_the_learner_learns(tmp_path):
    run = begin(tmp_path / "run")
    run.train(workers=2)
    assert run.iteration == 3
    assert run.replay.total >= 3 * 256
    assert run.learner.steps > 0
    assert Run.open(tmp_path / "run").replay.digest() == run.replay.digest()


def test_a_killed_worker_costs_its_games_in_progress_only(tmp_path, monkeypatch):
    run, step, killed = begin(tmp_path / "run"), RemotePlay.step, []

    def killing(play):
        found = step(play)
        if not killed:
            worker = play._pool._seats[0].worker
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)
        return found

    monkeypatch.setattr(RemotePlay, "step", killing)
    run.train(workers=2)
    assert killed
    assert run.iteration == 3


def test_a_deterministic_run_has_no_workers(tmp_path):
    with pytest.raises(ConfigError, match="no workers"):
        begin(tmp_path / "run", deterministic=True).train(workers=2)
