"""The public names: few at the top, the rest in namespaces, each documented and each with one meaning."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import treetop

NAMESPACES = (
    "adapters",
    "arena",
    "bits",
    "boards",
    "errors",
    "evaluators",
    "lab",
    "players",
    "prove",
    "records",
    "results",
    "rules",
    "states",
    "stopping",
)
OPTIONAL = ("adapters",)  # its names import packages that need not be installed


def test_there_are_at_most_forty_names_at_the_top_beside_the_namespaces():
    assert set(NAMESPACES) < set(treetop.__all__)
    assert len(set(treetop.__all__) - set(NAMESPACES) - {"__version__"}) <= 40


def test_matches_tournaments_players_and_proofs_are_found_where_users_look():
    assert treetop.match is treetop.arena.match
    assert treetop.tournament is treetop.arena.tournament
    assert treetop.Player is treetop.players.Player
    assert treetop.player is treetop.players.player
    assert treetop.prove("p -> p").proved
    assert treetop.prove.prove is not None


@pytest.mark.parametrize("namespace", [name for name in NAMESPACES if name not in OPTIONAL])
def test_every_name_of_a_namespace_is_there_and_documented(namespace):
    module = getattr(treetop, namespace)
    assert isinstance(module, ModuleType)
    assert module.__doc__
    for name in getattr(module, "__all__", ()):
        member = getattr(module, name)
        if inspect.isclass(member) or inspect.isfunction(member):
            assert inspect.getdoc(member), f"{namespace}.{name}"


def test_no_two_public_classes_have_one_name():
    homes = {}
    for namespace in (treetop, *(getattr(treetop, name) for name in NAMESPACES if name not in OPTIONAL)):
        for name in getattr(namespace, "__all__", ()):
            member = getattr(namespace, name)
            if inspect.isclass(member):
                assert homes.setdefault(name, member) is member, name


def test_namespaces_that_play_and_prove_are_loaded_on_first_use():
    code = "import sys, treetop; print([name for name in sys.modules if name.startswith(('treetop.arena', 'treetop.prove', 'treetop.lab'))])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_dir_lists_every_public_name():
    assert set(treetop.__all__) <= set(dir(treetop))
