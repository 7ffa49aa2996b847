"""Provers by the files that they read, what they can do beside proving, and when they are imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.prove.toy import TableProver, TableProvider, TableTheorem
from treetop.errors import ConfigError
from treetop.prove import abilities
from treetop.prove.abilities import (
    ExtensibleProvider,
    GoalPrinter,
    LemmaFile,
    Refutable,
    Reopenable,
    Retraceable,
    TimedVerifier,
    Tuned,
    WritableFile,
)
from treetop.prove.coq.prover import CoqProver
from treetop.prove.coq.suggest import CoqProvider
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.coq.writing import ProofFile
from treetop.prove.logic.files import ProblemFile
from treetop.prove.logic.prover import LogicProver
from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.plugins import PROVERS, open_file, plugin_for, suffixes
from treetop.prove.providers import Combined
from treetop.workers.units import resolve

ABILITIES = {
    TableProver: set(),
    TableProvider: set(),
    TableTheorem: set(),
    LogicProver: set(),
    LogicTheorem: {TimedVerifier, Tuned, Refutable},
    ProblemFile: set(),
    CoqProver: {GoalPrinter},
    CoqProvider: {ExtensibleProvider},
    CoqTheorem: {Reopenable, Retraceable},
    Combined: {ExtensibleProvider},
}
ALL = {GoalPrinter, Reopenable, Retraceable, TimedVerifier, Refutable, ExtensibleProvider}


@pytest.mark.parametrize("kind", ABILITIES, ids=lambda kind: kind.__name__)
def test_optional_abilities_are_found_by_their_methods(kind):
    assert {ability for ability in ALL if issubclass(kind, ability)} == ABILITIES[kind] & ALL


def test_optional_abilities_of_files_and_constants_are_found(tmp_path):
    (tmp_path / "One.v").write_text("Lemma one : True.\nAdmitted.\nLemma two : True.\nProof. exact I. Qed.\n")
    (tmp_path / "one.p").write_text("fof(c, conjecture, p => p).\n")
    coq, problem = open_file(tmp_path / "One.v"), open_file(str(tmp_path / "one.p"), mode="raw")
    assert isinstance(coq, ProofFile)
    assert isinstance(coq, LemmaFile)
    assert isinstance(coq, WritableFile)
    assert coq.names() == ("one", "two")
    assert coq.admitted == ("one",)
    assert not isinstance(problem, (LemmaFile, WritableFile))
    assert isinstance(problem.theorem(), Tuned)
    assert problem.theorem().mode == "raw"
    assert not isinstance(coq.theorem("one"), Tuned)


def test_every_ability_is_documented():
    for name, ability in vars(abilities).items():
        if isinstance(ability, type) and ability.__module__ == abilities.__name__:
            assert ability.__doc__, name


def test_every_prover_has_suffixes_of_its_own_and_a_loader():
    assert len(set(suffixes())) == len(suffixes())
    for plugin in PROVERS:
        assert callable(resolve(plugin.loader))
        assert all(plugin_for(f"folder/file{suffix}") is plugin for suffix in plugin.suffixes)
    assert plugin_for("p -> q") is None


def test_a_file_that_nobody_reads_or_an_option_that_nobody_has_is_refused():
    with pytest.raises(ConfigError, match=r"no prover reads file.lean: the name must end with .p or .v"):
        open_file("file.lean")
    with pytest.raises(ConfigError, match="Coq files have the options settings, write, copy, data, not mode"):
        open_file("file.v", mode="raw")


@pytest.mark.parametrize(
    "code",
    [
        "import treetop.prove; treetop.prove.prove('p & q -> q & p')",
        "from treetop.cli.app import app; app(['prove', 'p & q -> q & p'], standalone_mode=False)",
        "from treetop.cli.app import app; app(['prove', '--suite', 'PROBLEMS', '--attempts', '20'], standalone_mode=False)",
    ],
)
def test_a_formula_is_proved_without_importing_coq(code, tmp_path):
    (tmp_path / "one.p").write_text("fof(c, conjecture, p => p).\n")
    code = code.replace("PROBLEMS", str(tmp_path))
    code += "\nimport sys; print([name for name in sys.modules if name.startswith('treetop.prove.coq')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
