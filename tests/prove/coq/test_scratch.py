"""Nothing is left of the folders in which Coq runs, however their process ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

from treetop.prove.coq import scratch
from treetop.prove.coq.scratch import Scratch, remove_stale


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch._Home, "current", None)
    return tmp_path


def left_by(place, ending):
    code = f"from treetop.prove.coq.scratch import Scratch; import os, signal; s = Scratch(); (s.path / 'x').write_text('x'); {ending}"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(place)}, check=False)
    return list(place.iterdir())


def test_folders_are_gone_with_the_last_one(place):
    with Scratch() as one:
        with Scratch() as two:
            assert one.parent == two.parent
        assert one.is_dir()
        assert not two.exists()
    assert list(place.iterdir()) == []


def test_what_a_killed_process_leaves_is_removed_by_the_next_one_and_nothing_else(place):
    (place / "treetop-coq-not-ours").mkdir()
    assert len(left_by(place, "os.kill(os.getpid(), signal.SIGKILL)")) == 2
    with Scratch() as mine:
        assert {path.name for path in place.iterdir()} == {"treetop-coq-not-ours", mine.parent.name}
        remove_stale()
        assert mine.is_dir(), "what is in use stays"
        assert len(left_by(place, "pass")) == 2, "also for other processes"
        assert mine.is_dir()
    assert [path.name for path in place.iterdir()] == ["treetop-coq-not-ours"]
