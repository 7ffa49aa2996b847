"""A run that is killed again and again: its files stay readable, and nothing that was finished is lost."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")

# The program forks its children: what they need is imported and compiled already. It never computes by PyTorch itself.
PROGRAM = """
import os, random, signal, sys, time, traceback
import torch
import treetop as tt
from treetop.train import Run, TrainOptions, read_events

folder, kills, rng = sys.argv[1], int(sys.argv[2]), random.Random(7)
tt.search("tic_tac_toe", tt.gumbel(), evaluator=tt.evaluators.Uniform(), simulations=8, seed=1)


def fork(function):
    child = os.fork()
    if child:
        return child
    try:
        torch.set_num_threads(1)
        function()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def wait(child):
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def size():
    return sum(os.path.getsize(os.path.join(folder, "data", name)) for name in os.listdir(os.path.join(folder, "data")))


def verify():
    run = Run.open(folder)
    assert run.model().architecture.actions == 9
    found = run.replay.total, run.iteration, len(list(read_events(folder)))
    before = tuple(map(int, open(folder + ".seen").read().split())) if os.path.exists(folder + ".seen") else (0, 0, 0)
    assert all(now >= then for now, then in zip(found, before)), (found, before)
    open(folder + ".seen", "w").write(" ".join(map(str, found)))


options = TrainOptions(minutes=60, slots=16, simulations=4, chunk=64, rating_games=0)
wait(fork(lambda: Run.create(folder, "tic_tac_toe", options)))
for number in range(kills):
    child, before, end = fork(lambda: Run.open(folder).train()), size(), time.monotonic() + 60
    while number % 2 and size() == before and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(rng.random() * 0.4)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    wait(fork(verify))
print(open(folder + ".seen").read())
"""


def test_twenty_kills_lose_nothing_that_was_finished(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "run"), "20"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr
    positions, iterations, events = map(int, ended.stdout.split())
    assert positions > 0
    assert 0 < events <= iterations  # a kill between the checkpoint and its line costs the line
