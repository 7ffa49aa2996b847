"""The API reference: every public name has an entry on a page, and an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
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


def running_examples(text: str) -> str:
    """Return the code of the doctests in a docstring, those left out that are skipped."""
    return "".join(
        example.source
        for example in doctest.DocTestParser().get_examples(text)
        if not example.options.get(doctest.SKIP)
    )


@pytest.mark.parametrize("namespace", ["", *NAMESPACES])
def test_every_public_name_has_an_example_that_runs(namespace: str) -> None:
    """An example is in the docstring of the class or function, or in that of its namespace.

    The second is for types that users get and do not make, for parts of searches, and for engines. Errors are listed by
    the docstring of their module. `pytest --doctest-modules treetop` runs the examples.
    """
    module = getattr(treetop, namespace) if namespace else treetop
    shared = running_examples(module.__doc__ or "")
    assert shared or namespace in ("", "evaluators")
    missing = []
    for name in public_names(namespace):
        home, _, own_name = home_of(namespace, name).rpartition(".")
        member = getattr(importlib.import_module(home), own_name, None)  # None: a preset that is made at run time
        own = member.__dict__.get("__doc__") if inspect.isclass(member) else inspect.getdoc(member)
        is_error = inspect.isclass(member) and issubclass(member, treetop.TreetopError)
        listed = is_error and (name in (treetop.errors.__doc__ or "") or re.search(rf"\b{name}\b", shared))
        if not (name in CONSTANTS or listed or running_examples(own or "") or re.search(rf"\b{name}\b", shared)):
            missing.append(name)
    assert not missing
