"""The commands as processes: how they end, and what other programs play with them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
GNUGO = shutil.which("gnugo", path=os.environ.get("PATH", "") + ":/usr/games")


@pytest.fixture
def engine():
    """Start a command; it searches without an end by now."""
    started = []

    def start(*command, last):
        process = subprocess.Popen(
            [sys.executable, "-m", "treetop", *command],
            cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        process.stdin.write(last)
        process.stdin.flush()
        while (line := process.stdout.readline()) and not line.startswith(b"info"):
            pass
        assert line
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):
                pipe.close()


UCI = ("uci", "--game", "tic_tac_toe"), b"position startpos\ngo infinite\n"
GTP = ("gtp", "--game", "tic_tac_toe"), b"lz-analyze 5\n"


@pytest.mark.parametrize("protocol", [UCI, GTP], ids=["uci", "gtp"])
@pytest.mark.parametrize("how", ["end of input", "quit", "SIGTERM", "unread output"])
def test_a_search_without_an_end_does_not_keep_a_process(engine, protocol, how):
    process = engine(*protocol[0], last=protocol[1])
    if how == "SIGTERM":
        process.send_signal(signal.SIGTERM)
    elif how == "unread output":
        process.stdout.close()
        if protocol is UCI:  # reports come by themselves, so it need not wait for input
            assert process.wait(60) == 1
    else:
        process.stdin.write(b"quit\n" if how == "quit" else b"")
        process.stdin.close()
    assert process.wait(60) == (1 if how in ("SIGTERM", "unread output") else 0)
    assert process.stderr.read() == b""


def test_a_line_without_an_end_is_refused_and_not_kept_in_memory(engine):
    process = engine(*UCI[0], last=UCI[1])
    for _ in range(100):
        process.stdin.write(b"position " + b"x" * 2**20)
    process.stdin.write(b"\nquit\n")
    process.stdin.flush()
    memory = 0.0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status")
        if status.exists():
            lines = status.read_text().splitlines()
            memory = max(memory, *(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)
        time.sleep(0.02)
    assert process.returncode == 0
    assert b"a command has at most 100,000 characters" in process.stdout.read()
    assert memory < 1000


def _played(*options):
    ran = subprocess.run(
        [sys.executable, str(REPOSITORY / "bench" / "clients.py"), "--json", *options],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.skipif(importlib.util.find_spec("chess") is None, reason="needs python-chess: pip install chess")
def test_python_chess_plays_without_an_error_of_the_protocol():
    played = _played("--only", "chess", "--games", "2")
    assert list(played) == ["python-chess, nodes", "python-chess, Chess960"]
    assert all(games == 1 and errors == 0 for games, _, errors in played.values())


@pytest.mark.skipif(GNUGO is None, reason="needs GNU Go: apt-get install gnugo")
def test_gnu_go_accepts_every_move_and_has_the_same_boards():
    played = _played("--only", "go", "--games", "2")
    assert all(games == 1 and errors == 0 for games, _, errors in played.values())


def test_hostile_lines_end_nothing_run_nothing_and_leave_nothing():
    ran = subprocess.run(
        [sys.executable, str(REPOSITORY / "fuzz" / "protocols.py"), "--quick", "--lines", "200", "--seed", "5"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
