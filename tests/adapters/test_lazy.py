"""Adapters are there when they are asked for: nothing of theirs is loaded before, and a missing package gets a helpful error."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from treetop import adapters

PACKAGES = {
    "chess": "chess",
    "gymnasium": "gym",
    "pettingzoo": "gym",
    "openspiel": "openspiel",
    "openspiel_games": "openspiel",
}
DOCUMENT = Path(__file__).parents[2] / "docs" / "adapters.md"


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_treetop_loads_no_package_that_it_adapts():
    loaded = run(
        "import sys, treetop; treetop.adapters; print(sorted({name.split('.')[0] for name in sys.modules}))"
    ).stdout
    for package in ("chess", "gymnasium", "pettingzoo", "pyspiel", "open_spiel", "pygame"):
        assert f"'{package}'" not in loaded


@pytest.mark.parametrize("module", PACKAGES)
def test_a_missing_package_names_the_extra_that_brings_it(module):
    package = module if module in ("chess", "gymnasium", "pettingzoo") else "pyspiel"
    code = f"import sys; sys.modules[{package!r}] = None\nimport treetop\ntry:\n    treetop.adapters.{module}\nexcept treetop.errors.MissingExtraError as error:\n    print(error)"
    assert f'pip install -e ".[{PACKAGES[module]}]"' in run(code).stdout


def test_everything_public_is_there_and_documented():
    for name in adapters.__all__:
        assert getattr(adapters, name).__doc__
    assert set(adapters.__all__) <= set(dir(adapters))
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        adapters.nothing  # noqa: B018


@pytest.mark.parametrize("number", range(len(re.findall("```python", DOCUMENT.read_text()))))
def test_what_the_document_shows_runs(number):
    snippet = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)[number]
    exec(compile(snippet, f"{DOCUMENT.name}, snippet {number}", "exec"), {"__name__": "snippet"})
