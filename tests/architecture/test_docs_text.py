"""The text of the documentation: what a reader copies from it works in a clone of the repository."""

from __future__ import annotations

import pickle
import re
import tomllib
from pathlib import Path

from treetop.errors import MissingExtraError

HERE = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FOLDERS = ("treetop", "docs", "examples", "bench", "scripts")


def texts() -> list[Path]:
    """Return the files that a user reads."""
    found = [HERE / "README.md", HERE / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        found += [*(HERE / folder).rglob("*.py"), *(HERE / folder).rglob("*.md")]
    return found


def test_install_lines_work_from_a_clone() -> None:
    """The package is not on PyPI, so `pip install treetop[...]` would fail, or install something else."""
    for file in texts():
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"pip install [^\n]*\btreetop\b", text), file
        for line, error in re.findall(r"-e \"\.\[(\w+)\]\"|MissingExtraError\([^)]*extra=\"(\w+)\"", text):
            assert (line or error) in EXTRAS, file


def test_an_error_about_a_missing_package_survives_a_process() -> None:
    error = MissingExtraError("plots need Matplotlib", extra="plot")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert 'pip install -e ".[plot]"' in str(error)
