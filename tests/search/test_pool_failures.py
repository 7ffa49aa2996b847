"""What a pool does when an evaluator, a game or a person gets in its way: nothing is silently wrong."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import treetop as tt

RNG = np.random.default_rng(1)
WEIGHTS = RNG.normal(0.0, 0.3, (126, 8))


class Reusing:
    """A small network that may write all its logits to one array, as code for speed does."""

    def __init__(self, *, copies):
        self.copies, self.out, self.kept = copies, np.zeros((4096, 7)), []

    def evaluate(self, batch):
        numbers = batch.observations.reshape(len(batch), -1) @ WEIGHTS
        logits = self.out[: len(batch)]
        logits[:] = numbers[:, :7]
        self.kept.append((batch, batch.states.copy()))
        return logits.copy() if self.copies else logits, np.tanh(numbers[:, 7])


@pytest.mark.parametrize("overlap", [True, False])
def test_an_evaluator_may_write_to_its_arrays_again(overlap):
    visits = []
    for copies in (True, False):
        pool = tt.SearchPool(
            "connect_four", tt.puct(c=1.5), slots=64, evaluator=Reusing(copies=copies), seed=1, overlap=overlap
        )
        pool.run(100)
        visits.append(pool.results().visits)
    assert (visits[0] == visits[1]).all()


@pytest.mark.parametrize("overlap", [True, False])
def test_an_evaluator_may_keep_its_batches(overlap):
    evaluator = Reusing(copies=True)
    pool = tt.SearchPool("connect_four", tt.puct(), slots=4, evaluator=evaluator, seed=1, overlap=overlap)
    pool.run(50)
    assert all((batch.states == states).all() for batch, states in evaluator.kept)


TWICE = """
import os, signal, threading, time, treetop as tt
pool = tt.SearchPool("othello", slots=2000, threads=2, seed=1)
pool.run(1)
def press():
    for pause in (0.05, 0.003):
        time.sleep(pause)
        os.kill(os.getpid(), signal.SIGINT)
thread = threading.Thread(target=press)
try:
    thread.start()
    pool.run(20_000)
except KeyboardInterrupt:
    before = pool.results().simulations
    time.sleep(0.2)
    assert (pool.results().simulations == before).all(), "threads go on"
    pool.run(5)
    for slot in range(0, 2000, 97):
        pool._slots.driver(slot).tree.check()
    print("consistent")
"""


def test_a_second_ctrl_c_waits_for_the_threads():
    ended = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=120)
    assert "consistent" in ended.stdout, ended.stderr


@tt.game(players=1, num_actions=2, max_length=100)
class Broken:
    """Count to 90 by ones and twos; at 7 and a half the rules fail."""

    total = tt.field("i4")
    odd = tt.field("i4")
    table = tt.field("i4", 4)

    def reset(self):
        self.total = 0

    def current_player(self):
        return 0

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        if self.odd == 3:
            out[0] = self.table[self.total]  # beyond the end of the table
        return 2

    def apply(self, action):
        self.total += 1
        self.odd = self.odd + 1 if action == 1 else 0

    def is_terminal(self):
        return self.total >= 90

    def rewards(self, out):
        out[0] = 0.0


@pytest.fixture
def broken(untried):
    return Broken


def test_a_move_after_which_the_game_fails_names_its_slot_and_plays_nothing(broken):
    pool = tt.SearchPool(broken, slots=4, seed=1)
    for _ in range(5):
        pool.advance([0] * 4)
    for action in (1, 1):
        pool.advance([0, 0, action, 0])
    with pytest.raises(tt.errors.GameError, match="in slot 2"):
        pool.advance([0, 0, 1, 0])
    assert pool.moves_played.tolist() == [7] * 4
    assert [len(pool.position(slot).actions) for slot in range(4)] == [7] * 4
    assert pool.position(2).record["total"] == 7
    pool.advance([0] * 4)
    assert pool.moves_played.tolist() == [8] * 4


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_in_one_slot_does_not_search_the_others_again(broken, threads):
    pool = tt.SearchPool(broken, slots=4, seed=1, threads=threads)
    for _ in range(5):
        pool.advance([0] * 4)
    with pytest.raises(tt.errors.GameError, match="in slot"):
        pool.run(64)
    assert pool._slots.controls["done"].max() <= 64
    for slot in range(4):
        pool._slots.driver(slot).tree.check()


@pytest.mark.parametrize("states", [np.zeros((4, 3, 6, 7), np.float32), [1, 2], None, np.zeros(3, np.int64)], ids=repr)
def test_states_must_be_records_of_the_game(states):
    game = tt.load_game("connect_four")
    calls = (tt.states.players, tt.states.observations, tt.states.legal_mask, tt.states.keys)
    for call in calls:
        with pytest.raises(tt.errors.ConfigError, match="must be an array of records of connect_four"):
            call(game, states)
    with pytest.raises(tt.errors.ConfigError, match="must be an array of records of connect_four"):
        tt.states.transformed(game, states, [1, 1, 1, 1])
    with pytest.raises(tt.errors.ConfigError, match="give a game"):
        tt.states.observations("connect_four", tt.position("connect_four").record)


@pytest.mark.parametrize("workers", [0, -1, 2**70, True, 1.5])
def test_a_wrong_number_of_workers_is_refused(workers):
    with pytest.raises(tt.errors.ConfigError, match="workers"):
        tt.search("tic_tac_toe", workers=workers, simulations=10)


def test_a_report_names_threads_and_batches():
    search = tt.Search("connect_four", seed=1, threads=2, deterministic=True)
    result = search.run(tt.Limit(simulations=200))
    report = result.report()
    assert (report.threads, report.deterministic, report.batch_size) == (2, True, 32)
    assert "2 threads, deterministic" in str(result)
    assert tt.search("connect_four", simulations=10, seed=1).report().threads == 1
