"""One process of Coq for the lemmas of a file: it goes on from where it stands, and what it finds is the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treetop.errors import ConfigError, ProverError
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.prover import Place
from treetop.prove.search import ProofSearch
from treetop.prove.sessions import ProverSession
from treetop.search.limits import Limit

FILE = """
Lemma first : forall n : nat, n = n. Admitted.
Module M.
  Section S.
    Variable A : Prop.
    Lemma inside : A -> A. Admitted.
  End S.
  Definition two := 2.
End M.
Lemma swapped : forall A B : Prop, A /\\ B -> B /\\ A.
Proof. intros A B [a b]. split; assumption. Qed.
Lemma last : M.two = 1 + 1. Admitted.
"""
NAMES = ("first", "M.inside", "swapped", "last")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "Kept.v"
    path.write_text(FILE)
    return path


def outcome(theorem, session=None):
    with ProofSearch(theorem, seed=1, session=session) as search:
        result = search.run(Limit(calls=200))
        return result.attempts, [str(goal.goal) for goal in result.graph.goals], result.script, search._prover.pid


def test_a_kept_prover_finds_what_a_new_one_finds_in_any_order(file):
    alone = {name: outcome(CoqTheorem(file, name))[:3] for name in NAMES}
    with ProverSession() as session:
        together = [
            (name, *outcome(CoqTheorem(file, name), session))
            for name in (*NAMES, *reversed(NAMES), "swapped", "swapped")
        ]
    assert all(alone[name] == tuple(found) for name, *found, _ in together)
    assert len({pid for *_, pid in together}) == 1


def test_what_a_kept_prover_has_run_is_not_run_again(file):
    theorems = [CoqTheorem(file, name) for name in ("first", "last")]
    prover = theorems[0].open()
    try:
        sent: list[str] = []
        send = prover._process.send
        prover._process.send = lambda *calls: (sent.extend(calls), send(*calls))[1]
        assert theorems[1].reopen(prover)
        assert sum("Module M" in call for call in sent) == 1
        sent.clear()
        assert theorems[1].reopen(prover)
        assert not any("Module M" in call for call in sent)
    finally:
        prover.close()


def test_a_lemma_that_cannot_be_stated_or_a_lost_process_costs_nothing_else(file):
    file.write_text(f"{FILE}Lemma unstated : forall x, x = _. Admitted.\n")
    with ProverSession() as session:
        outcome(CoqTheorem(file, "first"), session)
        with pytest.raises(ProverError, match="Kept.v, line 13"):
            session.open(CoqTheorem(file, "unstated"))
        pid = outcome(CoqTheorem(file, "swapped"), session)[-1]
        os.kill(pid, signal.SIGKILL)
        assert outcome(CoqTheorem(file, "first"), session)[-1] != pid


def test_data_is_refused_by_a_kept_prover_too(file):
    file.write_text(f"{FILE}Definition some : nat. Admitted.\n")
    with ProverSession() as session:
        session.open(CoqTheorem(file, "first"))
        with pytest.raises(ConfigError, match="some is data"):
            session.open(CoqTheorem(file, "some"))


def test_another_file_or_other_settings_get_a_process_of_their_own(file, tmp_path):
    other = tmp_path / "Other.v"
    other.write_text("Lemma one : 1 = 1. Admitted.\n")
    with ProverSession() as session:
        first = session.open(CoqTheorem(file, "first"))
        pid = first.pid
        second = session.open(CoqTheorem(other, "one"))
        assert second.pid != pid
        assert second.attempt(Place(second.root()), "reflexivity").subgoals == ()


_SCRIPT = """
import sys
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.sessions import ProverSession
if __name__ == "__main__":
    with ProverSession(workers=2) as session:
        session.open(CoqTheorem(sys.argv[1], "first"))
        print("open", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, None])
def test_no_prover_of_a_session_outlives_its_program(file, tmp_path, end):
    program = tmp_path / "program.py"
    program.write_text(_SCRIPT)
    root = str(Path(__file__).resolve().parents[3])
    process = subprocess.Popen(
        [sys.executable, str(program), str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    try:
        assert process.stdout.readline() == "open\n"
        assert len(_provers(file)) == 3
        if end is not None:
            process.send_signal(end)
        process.communicate(timeout=60)
        until = time.monotonic() + 30
        while _provers(file) and time.monotonic() < until:
            time.sleep(0.05)
        assert not _provers(file)
    finally:
        process.kill()
        process.communicate()


def _provers(file: Path) -> list[str]:
    """The processes of Coq that have this file open."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "coqidetop" in words[0] and str(file) in words:
            found.append(entry.parent.name)
    return found
