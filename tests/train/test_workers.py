"""Self-play in other processes: one learner, and a lost worker costs its games in progress."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import environment

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


def children(parent):
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = entry.read_text().rpartition(")")[2].split()
            found += [int(entry.parent.name)] if words[0] != "Z" and int(words[1]) == parent else []
    return found


def wait_until(holds, seconds=240):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_ends_leaves_no_worker_and_loses_no_finished_game(tmp_path, ending):
    options = ("--out", "run", "--minutes", "9", "--slots", "16", "--simulations", "4", "--workers", "2")
    process = subprocess.Popen(
        [sys.executable, "-m", "treetop", "train", "tic_tac_toe", *options],
        cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        wait_until(lambda: any((tmp_path / "run" / "data").glob("*.games")) or process.poll() is not None)
        started = children(process.pid)
        assert started, process.communicate()
        if ending == signal.SIGKILL:
            process.kill()
        elif ending == signal.SIGTERM:
            process.terminate()
        else:
            os.killpg(process.pid, ending)
        err = process.communicate(timeout=240)[1]
        assert "Traceback" not in err
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in started))
    run = Run.open(tmp_path / "run")
    assert run.replay.total > 0
    if ending != signal.SIGKILL:
        assert process.returncode == 0
        assert run.iteration > 0
