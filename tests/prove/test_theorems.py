"""What people call a theorem, the shortest way to a proof, and what the package shows of itself."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys

import pytest

import treetop.prove
from tests.prove.toy import TableTheorem
from treetop.errors import ConfigError, FormulaError
from treetop.prove import FixedProvider, ProofConfig, prove
from treetop.prove.theorems import find_theorem


def test_a_formula_is_proved_in_one_line():
    result = prove("p & q -> q & p")
    assert result.proved
    assert str(result).startswith("p & q -> q & p: proved in 1 step, accepted by ")


def test_options_reach_the_search():
    result = prove(
        "p & q -> q & p",
        seconds=5.0,
        config=ProofConfig(policy="blind_uniform"),
        seed=3,
        provider=FixedProvider([("nonsense", 1.0)]),
    )
    assert not result.proved
    assert result.report.policies == ("blind_uniform",)
    assert result.report.seeds == (3,)


def test_a_theorem_of_ones_own_is_proved():
    assert prove(TableTheorem({"A": {"done": ()}})).script == "done"


def test_a_problem_file_is_proved(tmp_path):
    (tmp_path / "one.p").write_text("fof(c, conjecture, p => p).\n")
    assert prove(tmp_path / "one.p").theorem == "one"
    assert prove(str(tmp_path / "one.p")).proved


@pytest.mark.skipif(shutil.which("coqidetop.opt") is None, reason="needs Coq: the Debian package `coq`")
def test_a_lemma_of_a_file_is_proved(tmp_path):
    (tmp_path / "One.v").write_text("Lemma one : forall n : nat, n = n.\nAdmitted.\n")
    result = prove(tmp_path / "One.v", lemma="one")
    assert result.proved
    assert "\nLemma one : forall n : nat, n = n.\n" in str(result)
    assert "accepted by coqc" in str(result)


def test_what_is_no_theorem_is_refused(tmp_path):
    with pytest.raises(FormulaError):
        prove("p &")
    (tmp_path / "One.v").write_text("Lemma one : True.\nAdmitted.\n")
    (tmp_path / "one.p").write_text("fof(c, conjecture, p => p).\n")
    with pytest.raises(ConfigError, match=r"name the lemma of .*One.v that is to be proved"):
        find_theorem(tmp_path / "One.v")
    with pytest.raises(ConfigError, match="one.p states one theorem, without a name: remove 'lemma'"):
        find_theorem(tmp_path / "one.p", "lemma")
    for other in ("p -> p", TableTheorem({"A": {}})):
        with pytest.raises(ConfigError, match=r"lemmas have names in Coq files \(File.v\) only: leave out 'lemma'"):
            find_theorem(other, "lemma")


def test_everything_public_is_there_and_documented():
    assert treetop.prove.__all__ == sorted(treetop.prove.__all__, key=lambda name: (name[0].islower(), name))
    assert set(treetop.prove.__all__) <= set(dir(treetop.prove))
    for name in treetop.prove.__all__:
        assert inspect.getdoc(getattr(treetop.prove, name)), name
    with pytest.raises(AttributeError, match="nothing"):
        treetop.prove.nothing  # noqa: B018


def test_the_package_loads_what_is_asked_for_and_no_more():
    code = "import sys, treetop, treetop.prove; from treetop.prove import ProofConfig; print([name for name in sys.modules if name.startswith('treetop.prove.')])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "['treetop.prove.config']\n"
    )
