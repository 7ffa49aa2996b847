"""`treetop search --html, --svg, --dot`: files that show a result."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from tests.cli.conftest import environment

SEARCH = ("search", "tic_tac_toe", "--simulations", "300", "--seed", "1")


def test_all_files_are_written_beside_the_usual_output(run, tmp_path):
    html, svg, dot = (tmp_path / f"tree.{name}" for name in ("html", "svg", "dot"))
    ended = run(*SEARCH, "--json", "--html", str(html), "--svg", str(svg), "--dot", str(dot))
    assert ended.code == 0
    assert json.loads(ended.out)["move"] == "b2"
    assert ended.err.splitlines() == [f"written: {path}" for path in (html, svg, dot)]
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert ET.parse(svg).getroot().tag.endswith("svg")
    assert dot.read_text(encoding="utf-8").startswith("digraph tree {")


def test_a_file_that_exists_is_replaced(run, tmp_path):
    file = tmp_path / "tree.svg"
    file.write_text("old" * 100_000)
    assert run(*SEARCH, "--svg", str(file)).code == 0
    assert "old" not in file.read_text(encoding="utf-8")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("tree")] == ["tree.svg"]


@pytest.mark.parametrize("option", ["--html", "--svg", "--dot"])
def test_a_path_that_cannot_be_written_is_refused_before_the_search(run, tmp_path, option):
    for path, why in ((tmp_path / "missing" / "file", "there is no folder"), (tmp_path, "it is a folder")):
        ended = run("search", "connect_four", "--simulations", "1000000000", option, str(path))
        assert ended.code == 2
        assert ended.out == ""
        assert f"{path} cannot be written: {why}" in ended.err


def test_two_pictures_in_one_file_are_refused(run, tmp_path):
    ended = run(*SEARCH, "--svg", str(tmp_path / "one"), "--dot", str(tmp_path / "one"))
    assert ended.code == 2
    assert "give each a file of its own" in ended.err


def test_a_full_disk_leaves_the_old_file_and_the_result(run, tmp_path):
    """A limit on the size of files stands for a disk that is full."""
    run(*SEARCH)  # compile it before, since the cache of compiled code needs larger files
    file = tmp_path / "page.html"
    file.write_text("old")

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    ended = subprocess.run(
        [sys.executable, "-m", "treetop", *SEARCH, "--html", str(file)], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, check=False, preexec_fn=limited,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "b2" in ended.stdout
    assert f"error: {file} cannot be written: File too large" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert file.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("page")] == ["page.html"]


def test_trees_of_several_workers_cannot_be_drawn(run, tmp_path):
    ended = run(*SEARCH, "--workers", "2", "--svg", str(tmp_path / "tree.svg"))
    assert ended.code == 2
    assert "the trees stay with the workers; remove --svg and --dot" in ended.err


def test_a_loaded_search_is_drawn(run, tmp_path):
    assert run(*SEARCH, "--save", str(tmp_path / "one.treetop")).code == 0
    ended = run(
        "search", "--load", str(tmp_path / "one.treetop"), "--simulations", "10", "--dot", str(tmp_path / "one.dot")
    )
    assert ended.code == 0
    assert "310 simulations" in (tmp_path / "one.dot").read_text()
