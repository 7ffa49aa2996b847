"""The cache on disk: found again by the next process, never stale, safe among many processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import treetop
from treetop.compiler.cache import KernelCache, cache_folder

PACKAGE = Path(treetop.__file__).parent

# A small kernel, for the cache treats all alike: counts the first moves of games and prints, for each, whether the code came from the cache.
SCRIPT = """
import json, sys
import treetop as tt
from treetop.oracle.perft import count_sequences, perft
rows = []
for spec in sys.argv[1:]:
    game = tt.load_game(spec)
    counts = [perft(game, depth) for depth in (3, 4, 5, 6)]
    rows.append({"counts": counts, "hit": game.engine().entry(count_sequences).from_cache, "digest": game.digest})
print(json.dumps(rows))
"""


def start(cache, *specs, script=SCRIPT, path=(), quiet="1", tier="direct"):
    env = {
        **os.environ,
        "TREETOP_TIER": tier,
        "TREETOP_CACHE": str(cache),
        "TREETOP_QUIET": quiet,
        "PYTHONPATH": os.pathsep.join([*map(str, path), str(PACKAGE.parent)]),
    }
    return subprocess.Popen(
        [sys.executable, "-c", script, *specs],
        env=env,
        cwd=tempfile.gettempdir(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return json.loads(out)


def test_a_second_process_finds_the_compiled_code(tmp_path):
    first = finish(start(tmp_path, "nim(stones=6)"))
    second = finish(start(tmp_path, "nim(stones=6)"))
    assert [one["hit"] for one in first] == [False]
    assert [one["hit"] for one in second] == [True]
    assert first[0]["counts"] == second[0]["counts"]


@pytest.mark.slow
def test_many_processes_may_compile_many_games_into_an_empty_cache_at_once(tmp_path):
    specs = [f"nim(stones={stones})" for stones in (5, 6, 7)] + ["tic_tac_toe"]
    crowd = [start(tmp_path, *(specs[turn:] + specs[:turn])) for turn in (0, 1, 2, 3, 0, 2)]
    reported = [finish(process) for process in crowd]
    counts = {}
    compiled = 0
    for turn, games in zip((0, 1, 2, 3, 0, 2), reported, strict=True):
        for spec, one in zip(specs[turn:] + specs[:turn], games, strict=True):
            assert counts.setdefault(spec, one["counts"]) == one["counts"]
            compiled += not one["hit"]
    assert compiled == len(specs)  # each was compiled once, by one of the processes; the others waited for it
    assert len({str(each) for each in counts.values()}) == len(specs)
    assert not list(tmp_path.glob("**/*.part"))


OWN = """
import treetop
{helper}
STEP = {constant}

def make(most):
    @treetop.game(players=2, num_actions=3, max_length=30)
    class Heap:
        n = treetop.field("i2")
        player = treetop.field("i1")
        def reset(self):
            self.n = 12
        def legal_actions(self, out):
            count = min(most, self.n)
            for action in range(count):
                out[action] = action
            return count
        def apply(self, action):
            self.n = max(0, self.n - step(action) - STEP)
            self.player = 1 - self.player
        def is_terminal(self):
            return self.n == 0
        def rewards(self, out):
            out[self.player] = -1.0
            out[1 - self.player] = 1.0
    return Heap
Heap = make({most})
"""
HELPER = "@treetop.compiled\ndef step(x):\n    return {body}\n"


@pytest.mark.parametrize("tier", ["direct", "indirect"])
def test_no_change_of_the_rules_is_ever_answered_with_old_code(tmp_path, tier):
    folder, cache = tmp_path / "own", tmp_path / "cache"
    folder.mkdir()

    def reported(body="x", constant=1, most=3):
        (folder / "steps.py").write_text("import treetop\n" + HELPER.format(body=body))
        (folder / "heap.py").write_text(OWN.format(helper="from steps import step", constant=constant, most=most))
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        return finish(start(cache, "heap:Heap", path=[folder], tier=tier))[0]

    base = reported()
    assert not base["hit"]
    assert reported()["hit"]
    changed = [
        reported(body="x + 1"),
        reported(constant=3),
        reported(most=2),
    ]  # a helper in another module, a constant, a closure value
    assert not any(one["hit"] for one in changed)
    assert len({str(one["counts"]) for one in [base, *changed]}) == 4
    assert reported() == {**base, "hit": True}


KEY = """
import json, sys
import numpy as np
import treetop as tt
from treetop.game.probe import FINDINGS, probe
game, findings = tt.load_game(sys.argv[1]), np.zeros(1, FINDINGS)
entry = game.engine().entry(probe)
entry(tt.Position(game).record.copy(), findings, np.zeros(3, np.int32), np.zeros(2), np.zeros(2))
print(json.dumps([int(findings[0]["key"]), entry.from_cache]))
"""


def test_a_kernel_of_which_a_helper_was_changed_is_compiled_anew(tmp_path):
    copy, cache = tmp_path / "copy", tmp_path / "cache"
    shutil.copytree(PACKAGE, copy / "treetop", ignore=shutil.ignore_patterns("__pycache__"))

    def reported():
        return finish(start(cache, "nim(stones=6)", script=KEY, path=[copy]))

    assert [reported(), reported()] == [[12, False], [12, True]]
    kernels = copy / "treetop" / "game" / "probe.py"
    kernels.write_text(kernels.read_text().replace("np.uint64(state.key())", "np.uint64(state.key() + 5)"))
    assert reported() == [17, False]


def test_a_game_without_a_file_is_cached_too(tmp_path):
    """As in a notebook: the cell's source is no module."""
    cell = OWN.format(helper=HELPER.format(body="x"), constant=1, most=3)
    script = f"""
import json
from treetop.oracle.perft import count_sequences, perft
exec(compile({cell!r}, "<ipython-input-1>", "exec"), globals())
perft(Heap, 4)
print(json.dumps(Heap.engine().entry(count_sequences).from_cache))
"""
    assert [finish(start(tmp_path, script=script)) for _ in range(2)] == [False, True]


def test_nothing_is_written_into_the_package(tmp_path):
    before = {file for file in PACKAGE.glob("**/*") if "__pycache__" not in file.parts}
    finish(start(tmp_path, "nim(stones=6)"))
    assert {file for file in PACKAGE.glob("**/*") if "__pycache__" not in file.parts} == before
    assert list(tmp_path.glob("**/*.kernel"))


def test_damaged_cache_files_are_compiled_over(tmp_path):
    finish(start(tmp_path, "nim(stones=6)"))
    [file] = tmp_path.glob("**/*.kernel")
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[-1000] ^= 1
    for content in (whole[: len(whole) // 2], b"", bytes(flipped)):
        file.write_bytes(content)
        assert not finish(start(tmp_path, "nim(stones=6)"))[0]["hit"]
        assert file.read_bytes() != content
    assert finish(start(tmp_path, "nim(stones=6)"))[0]["hit"]


def test_code_of_another_game_or_build_is_never_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("TREETOP_CACHE", str(tmp_path))
    finish(start(tmp_path, "nim(stones=6)"))
    [file] = tmp_path.glob("**/*.kernel")
    content = file.read_bytes()
    game, build, kernel, signature = content.split(b"\n")[1:5]
    right = KernelCache(game.decode(), build.decode(), kernel.decode(), signature.decode())
    assert right._read() is not None
    other = KernelCache("another", build.decode(), kernel.decode(), signature.decode())
    other._file.parent.mkdir(parents=True)
    other._file.write_bytes(content)
    assert other._read() is None


def test_a_cache_that_cannot_be_written_costs_only_time_and_is_reported(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    reported = "\nrows[0]['unkept'] = game.engine().unkept\nprint"
    script = SCRIPT.replace("\nprint", reported).replace(
        "rows = []", "rows = []; from treetop.compiler import preparing; preparing._NOTICE_AFTER = 0.0"
    )
    process = start(blocked / "cache", "nim(stones=6)", script=script, quiet="0")
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    [one] = json.loads(out)
    assert not one["hit"]
    assert (
        one["unkept"]
        == f"compiled code could not be saved in {blocked}/cache: Not a directory; set TREETOP_CACHE to a folder that can be written"
    )
    assert err.count(one["unkept"]) == 1  # as a warning
    assert err.startswith(
        f"compiling a part of the search (count_sequences), for nim(stones=6, most=3); not saved: {blocked}/cache cannot be written; set TREETOP_CACHE"
    )


def test_without_a_home_the_cache_is_a_temporary_folder(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.delenv("TREETOP_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert "treetop-" in cache_folder().name
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "treetop"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners of files")
def test_a_temporary_cache_that_others_can_write_is_not_used(tmp_path, monkeypatch):
    monkeypatch.delenv("TREETOP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shared = tmp_path / f"treetop-{os.getuid()}"
    assert cache_folder() == shared
    shared.chmod(0o777)
    assert cache_folder() != shared
    shared.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    shared.symlink_to(tmp_path / "elsewhere")
    assert cache_folder() != shared
