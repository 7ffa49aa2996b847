"""Whatever a tactic does, the next one works; and nothing is left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from treetop.errors import ConfigError, ProverError
from treetop.prove.coq import process as process_module
from treetop.prove.coq.process import CoqProcess, find_program
from treetop.prove.coq.settings import CoqSettings, LoadPath
from treetop.prove.prover import Place, Step

FOREVER = "do 1000000000 idtac"
LONG = "(fix f (n : nat) : nat := match n with O => O | S k => match f k with O => f k | S _ => O end end) 60"  # ages, and no memory
MEMORY = "let rec f x := (let y := constr:((x, x)) in let z := eval cbv in y in f z) in f 1"


@pytest.fixture
def works(prover, root):
    """The prover is as it was, also away from the root."""

    def check():
        goal = prover.attempt(root, "induction n").subgoals[1]
        assert prover.attempt(Place(goal, (Step("induction n", 1),)), "lia").subgoals == ()
        assert prover.attempt(root, "reflexivity").reason.startswith("In environment")

    return check


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("tactic", [FOREVER, f"try ({FOREVER})", f"first [{FOREVER} | lia]", f"let x := eval vm_compute in ({LONG}) in idtac",
                                    f"let x := eval lazy in ({LONG}) in idtac", "repeat (assert (1 = 1) by auto)"])  # fmt: skip
def test_a_tactic_without_end_is_interrupted(prover, root, works, tactic):
    pid = prover.pid
    began = time.monotonic()
    attempt = prover.attempt(root, tactic, 0.25)
    assert attempt.reason == "time-out: more than 0.25 s"
    assert time.monotonic() - began < 5
    works()
    assert prover.pid == pid  # no new start was needed


def test_endless_recursion_ends_without_harm(prover, root, works):
    assert prover.attempt(root, "let rec f := f in f").reason == "Stack overflow."
    works()


def test_a_tactic_that_eats_the_memory_ends_only_its_process(prover, root, works):
    before = prover.restarts
    attempt = prover.attempt(root, MEMORY, 60.0)
    assert "out of memory" in attempt.reason.lower()
    works()
    assert prover.restarts == before + 1


def test_coq_may_be_killed_amidst_a_tactic(prover, root, works):
    killer = threading.Timer(0.2, os.kill, (prover.pid, signal.SIGKILL))
    killer.start()
    assert prover.attempt(root, FOREVER, 30.0).reason == "Coq ended (killed by SIGKILL)"
    killer.join()
    works()


def test_coq_may_be_killed_between_tactics_and_nobody_notices(prover, root):
    os.kill(prover.pid, signal.SIGKILL)
    time.sleep(0.1)
    assert prover.attempt(root, "lia").subgoals == ()


def test_coq_that_does_not_answer_is_ended(prover, root, works):
    pid = prover.pid
    os.kill(pid, signal.SIGSTOP)
    assert prover.attempt(root, "lia", 0.1).reason == "time-out: more than 0.1 s"
    assert gone(pid)
    works()


def test_interrupts_at_any_moment_spoil_nothing(prover, root, works):
    chance = random.Random(5)
    for _ in range(300):
        prover.attempt(
            root,
            chance.choice(["lia", "auto with arith", "do 2000 idtac", "induction n"]),
            chance.choice([0.0001, 0.0005, 0.002]),
        )
    assert prover.attempt(root, "lia", 10.0).subgoals == ()
    works()


def test_an_attempt_that_is_broken_off_harms_nothing(prover, root, works):
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            prover.attempt(root, FOREVER, 30.0)
    finally:
        signal.signal(signal.SIGALRM, before)
    works()


def test_large_tactics_and_answers_go_through(prover, root, works):
    assert prover.attempt(root, f'idtac "{"x" * 300_000}"', 10.0).reason == "no progress"
    goal = prover.attempt(root, "assert (2000 = 2000)", 20.0).subgoals[0]
    assert goal.data.conclusion.count("S") >= 4000
    works()


def test_closing_twice_leaves_no_process_and_no_folder(theorem):
    prover = theorem.open()
    pid = prover.pid
    folder = Path(f"/proc/{pid}/cwd").readlink()
    assert folder.is_dir()
    prover.close()
    prover.close()
    assert gone(pid)
    assert not folder.exists()
    with pytest.raises(ProverError, match="the prover was closed"):
        prover.attempt(Place(prover.root()), "lia")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a child that its parent has died")
def test_coq_dies_with_its_parent():
    code = """
import os, signal
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.prover import Place
prover = CoqTheorem.from_text("", "True").open()
print(prover.pid, flush=True)
signal.setitimer(signal.ITIMER_REAL, 0.3)
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
prover.attempt(Place(prover.root()), "do 1000000000 idtac", 60.0)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3]
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    deadline = time.monotonic() + 5
    while not gone(int(ran.stdout)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert gone(int(ran.stdout))


def test_a_missing_program_is_reported_with_the_way_to_get_it(monkeypatch):
    with pytest.raises(ProverError, match="Coq is not installed .*apt-get install coq"):
        find_program("no-such-coq")
    monkeypatch.setattr(process_module, "PROGRAM", "no-such-coq")
    with pytest.raises(ProverError, match="Coq is not installed"):
        CoqProcess(LoadPath())


def test_a_program_that_is_not_coq_is_refused(monkeypatch):
    monkeypatch.setattr(process_module, "PROGRAM", "true")
    with pytest.raises(ProverError, match="Coq does not start"):
        CoqProcess(LoadPath())


def test_an_option_that_coq_refuses_is_reported(tmp_path):
    with pytest.raises(ProverError, match="no-such-option"):
        CoqProcess(LoadPath(tmp_path, ("-no-such-option",)))


@pytest.mark.parametrize(
    "wrong", [{"seconds": 0}, {"seconds": float("nan")}, {"memory_mb": 10}, {"memory_mb": 1e9}, {"check_seconds": -1}]
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ConfigError, match="must be"):
        CoqSettings(**wrong)
