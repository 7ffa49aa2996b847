"""Theorems of the logic as reports, scripts and definitions for Coq."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.prove.logic.statements import prove
from treetop.errors import ProverError
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.prover import Proof

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian package: coq)")
BENCH = Path(__file__).resolve().parents[3] / "bench"
FOR_COQ = (
    "p & q -> q & p",
    "~~(p | ~p)",
    "True",
    "False -> fun",
    "p & (q | r) <-> p & q | p & r",
    "~(p | q) <-> ~p & ~q",
    "((((p -> q) -> p) -> p) -> q) -> q",
    "~~(p -> q) -> ~~p -> ~~q",
    "((h1 <-> I) -> h1 & I & p3) -> ((I <-> p3) -> h1 & I & p3) -> ((p3 <-> h1) -> h1 & I & p3) -> h1 & I & p3",
    "(a | b | c) & (d | e | f) -> (c | b | a) & (e | f | d)",
    "((p & q | (p -> f) | (q -> f)) -> f) -> f",
    "((p1 <-> p2) <-> (p3 <-> p4)) <-> ((p4 <-> p3) <-> (p2 <-> p1))",
    "(a | b) & (c | d) & (e | f) -> a & c | a & e | c & e | b & d | b & f | d & f",
)


def test_a_theorem_reports_its_facts():
    theorem = LogicTheorem.read("p -> p", "identity", mode="raw")
    assert json.loads(json.dumps(theorem.facts())) == {
        "prover": "logic",
        "statement": "p -> p",
        "mode": "raw",
        "classical": True,
    }
    assert theorem.open().root().key == "|- p -> p"


def test_a_script_is_an_indented_tree_of_tactics():
    theorem, proof = prove("p | q -> (q | p) & True", "raw")
    assert proof is not None
    assert (
        theorem.script(proof)
        == "intro\nsplit\n- cases p | q\n  - right\n    assumption\n  - left\n    assumption\n- trivial\n"
    )


@needs_coq
@pytest.mark.parametrize("mode", ["raw", "invertible"])
def test_coq_accepts_what_the_checker_accepts(mode, tmp_path):
    definitions = []
    for index, text in enumerate(FOR_COQ):
        theorem, proof = prove(text, mode)
        assert proof is not None
        definitions.append(LogicTheorem(f"{index}-{mode}", theorem.statement, mode=mode).to_coq(proof))
    file = tmp_path / "proofs.v"
    file.write_text("\n".join(definitions))
    ran = subprocess.run(["coqc", "-q", str(file)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr[:2000]
    assert len(re.findall(r"^Definition ", file.read_text(), re.MULTILINE)) == len(FOR_COQ)


@needs_coq
def test_coq_rejects_a_definition_whose_statement_was_changed(tmp_path):
    theorem, proof = prove("p & q -> q & p")
    assert proof is not None
    file = tmp_path / "wrong.v"
    file.write_text(theorem.to_coq(proof).replace(r"(q /\ p) ) :=", r"p :=").replace(r"-> (q /\ p))", r"-> (q /\ q))"))
    assert subprocess.run(["coqc", "-q", str(file)], capture_output=True, check=False, cwd=tmp_path).returncode != 0


def test_there_is_no_definition_for_what_is_no_proof():
    theorem, proof = prove("p & q -> q & p")
    assert proof is not None
    with pytest.raises(ProverError, match="does not apply"):
        theorem.to_coq(Proof(proof.goal, "split"))


def _table(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH / "iltp.py"), str(folder), "--seconds", "5", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=BENCH.parent)


def test_the_table_counts_problems_by_family(tmp_path):
    (tmp_path / "OWN1+1.001.p").write_text("% Status (intuit.) : Theorem\nfof(c, conjecture, ~(~(p | ~ p))).")
    (tmp_path / "OWN1+1.002.p").write_text(
        "% Status (intuit.) : Theorem\nfof(a, axiom, p).\nfof(c, conjecture, p & $true)."
    )
    (tmp_path / "OWN2+1.p").write_text("% Status (intuit.) : Non-Theorem\nfof(c, conjecture, p | ~ p).")
    ran = _table(tmp_path, "--json", str(tmp_path / "out.json"))
    assert ran.returncode == 0, ran.stderr
    lines = [re.sub(r"\d+\.\d+ s", "T", line) for line in ran.stdout.splitlines()]
    assert "| OWN1 | Theorem | 2 | 2 | 0 | 0 | 2 | T | 2 | 0 | 0 |" in lines
    assert "| OWN2 | Non-Theorem | 1 | 0 | 1 | 0 | 1 | T | 0 | 1 | 0 |" in lines
    assert len(json.loads((tmp_path / "out.json").read_text())) == 3


def test_a_wrong_answer_ends_the_table_with_an_error(tmp_path):
    (tmp_path / "LIE1+1.p").write_text("% Status (intuit.) : Non-Theorem\nfof(c, conjecture, p => p).")
    (tmp_path / "LIE2+1.p").write_text("% Status (intuit.) : Theorem\nfof(c, conjecture, p | ~p).")
    ran = _table(tmp_path, "--no-baseline")
    assert ran.returncode == 1
    assert "LIE1+1.p (Non-Theorem): ours says proved" in ran.stderr
    assert "LIE2+1.p (Theorem): ours says refuted" in ran.stderr
    assert _table(tmp_path / "nowhere").returncode == 1
