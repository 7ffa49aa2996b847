"""The page in the package is what its sources give."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "treetop" / "serve" / "page"
MODULE = ROOT / "treetop" / "show" / "viewer.js"  # of `result.html()` and `result.show()`


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_page_is_small():
    assert sum(len(gzip.compress(content)) for content in files(PAGE).values()) < 400_000
    assert len(MODULE.read_bytes()) < 300_000


def test_nothing_of_the_page_comes_from_another_server():
    allowed = ("http://www.w3.org/",)  # the names of XML vocabularies, which are not loaded
    for name, content in {**files(PAGE), MODULE.name: MODULE.read_bytes()}.items():
        text = content.decode()
        for scheme in ("http://", "https://", "//cdn"):
            for part in text.split(scheme)[1:]:
                assert (scheme + part).startswith(allowed), f"{name}: {scheme}{part[:60]}"


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node: apt-get install npm")
def test_the_built_page_is_current(tmp_path):
    viewer = tmp_path / "viewer"
    shutil.copytree(ROOT / "viewer", viewer, ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "treetop" / "serve").mkdir(parents=True)
    installed = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund"], cwd=viewer, capture_output=True, check=False
    )
    if installed.returncode and "CI" not in os.environ:
        pytest.skip(f"the packages of the page cannot be installed: {installed.stderr.decode()[-300:]}")
    assert installed.returncode == 0, installed.stderr.decode()[-300:]
    subprocess.run(["npm", "run", "build"], cwd=viewer, capture_output=True, check=True)
    changed = "run `make page`, and commit what it writes"
    assert files(tmp_path / "treetop" / "serve" / "page") == files(PAGE), changed
    assert (tmp_path / "treetop" / "show" / "viewer.js").read_bytes() == MODULE.read_bytes(), changed
