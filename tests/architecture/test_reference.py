"""The API reference: every public name has an entry on a page, and an example that runs."""

from __future__ import annotations

import doctest
import functools
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import treetop

HERE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "scripts"))
try:
    from write_reference import CONSTANTS, NAMESPACES, home_of, public_names
finally:
    sys.path.pop(0)


def test_the_pages_have_an_entry_for_every_public_name() -> None:
    script = HERE / "scripts" / "write_reference.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0
    for namespace in ("", *NAMESPACES):
        page = (HERE / "docs" / "reference" / f"{namespace or 'treetop'}.md").read_text(encoding="utf-8")
        for name in public_names(namespace):
            title = ".".join(part for part in ("treetop", namespace, name) if part)
            assert re.search(rf"^(      heading: |## ){re.escape(title)}\b", page, flags=re.MULTILINE), title


def test_the_pages_are_in_the_navigation() -> None:
    navigation = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (HERE / "docs").rglob("*.md"):
        assert f"{page.relative_to(HERE / 'docs').as_posix()}\n" in navigation, page


def running(examples: list[doctest.Example]) -> str:
    """Return the code of the doctests that run: those left out that are skipped."""
    return "".join(example.source for example in examples if not example.options.get(doctest.SKIP))


@functools.cache
def examples_in(module: str) -> dict[str, str]:
    """Return the code of the examples that `pytest --doctest-modules treetop` runs in a module, by the docstring's owner.

    Functions made at run time, such as the presets of rules, have to be in the module's `__test__` to be found.
    """
    found = doctest.DocTestFinder().find(importlib.import_module(module))
    return {test.name.replace(".__test__.", "."): running(test.examples) for test in found}


@pytest.mark.parametrize("namespace", ["", *NAMESPACES])
def test_every_namespace_has_an_example_that_runs(namespace: str) -> None:
    module = getattr(treetop, namespace) if namespace else treetop
    assert running(doctest.DocTestParser().get_examples(module.__doc__ or ""))


@pytest.mark.parametrize("namespace", ["", *NAMESPACES])
def test_every_public_name_has_an_example_of_its_own_that_runs(namespace: str) -> None:
    """An example is in the docstring of the class or function itself; constants have none."""
    missing = []
    for name in public_names(namespace):
        home = home_of(namespace, name)
        if name not in CONSTANTS and not examples_in(home.rpartition(".")[0]).get(home):
            missing.append(name)
    assert not missing
