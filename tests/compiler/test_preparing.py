"""Compiling takes no time on any clock, and is never silent for long."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time

import pytest

from treetop.arena.game import play_game
from treetop.compiler import preparing
from treetop.compiler.labels import label
from treetop.compiler.preparing import announced, preparing_kernel, thinking_clock
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.kernels.batch import make_gather
from treetop.kernels.build import BUILDS, INFORMATION_SETS, PROBLEM, PROBLEM_FULL
from treetop.kernels.loop import make_run
from treetop.kernels.problem import make_exchange
from treetop.players.base import BasePlayer
from treetop.search.limits import Budget, Limit


class Watch:
    """Stands in for the module `time`: nothing but what a test does takes time."""

    def __init__(self) -> None:
        self.now = 1000.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch):
    monkeypatch.setattr(preparing, "time", Watch())
    monkeypatch.setattr(preparing, "_here", preparing._Here())
    return preparing.time


def compile_for(seconds: float) -> None:
    """What a kernel that is missing in the cache does."""
    with preparing_kernel():
        if isinstance(preparing.time, Watch):
            preparing.time.now += seconds
        else:
            time.sleep(seconds)


def in_another_thread(work):
    reported = []
    other = threading.Thread(target=lambda: reported.append(work()))
    other.start()
    other.join()
    return reported[0]


def test_the_clock_stands_while_its_thread_gets_code_ready(watch):
    clock = thinking_clock()
    assert (clock.now(), clock.kernels) == (1000.0, 0)
    with preparing_kernel():
        compile_for(30.0)  # one within another counts once
        assert clock.now() == 1000.0
    watch.now += 2.0
    assert (clock.now(), clock.kernels) == (1002.0, 2)


def test_the_clock_goes_on_while_another_thread_compiles(watch):
    in_another_thread(lambda: compile_for(30.0))
    assert thinking_clock().now() == 1030.0


def test_a_limit_in_seconds_does_not_pay_for_code_that_is_compiled_in_the_middle_of_it(watch):
    budget = Budget(Limit(seconds=1.0))
    compile_for(30.0)
    watch.now += 0.9
    assert budget.next_slice() > 0
    assert budget.elapsed == pytest.approx(0.9)
    watch.now += 0.2
    assert budget.next_slice() == 0


def test_a_limit_that_another_thread_goes_on_with_keeps_the_clock_of_the_first(watch):
    compile_for(30.0)
    budget = Budget(Limit(seconds=1.0))
    assert in_another_thread(lambda: budget.elapsed) == 0.0


class CompilesLate(BasePlayer):
    """A player that a user wrote, which gets nothing ready, and compiles in the middle of its first move."""

    def __init__(self, compiles: float, thinks: float = 0.0) -> None:
        super().__init__("late")
        self.compiles, self.thinks = compiles, thinks

    def choose(self, position: Position) -> int:
        compile_for(self.compiles)
        time.sleep(self.thinks)
        self.compiles = 0.0
        return position.legal_actions()[0]


def test_neither_a_deadline_nor_a_record_counts_what_a_player_compiles():
    played = play_game(
        [CompilesLate(1.2), CompilesLate(0.0)], Position(load_game("nim(stones=4)")), 1, move_deadline=1.0
    )
    assert played.forfeit is None
    assert played.seconds[0] < 1.0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="only an alarm can interrupt a move")
def test_a_deadline_is_kept_after_something_was_compiled():
    played = play_game(
        [CompilesLate(0.3, thinks=30.0), CompilesLate(0.0)], Position(load_game("nim(stones=4)")), 1, move_deadline=0.2
    )
    assert (played.forfeit, played.reason) == (0, "no move after 0.2 s")


@pytest.fixture
def loud(monkeypatch):
    monkeypatch.delenv("TREETOP_QUIET")
    monkeypatch.setattr(preparing, "_NOTICE_AFTER", 0.0)


def test_compiling_is_reported_in_one_line_on_stderr(loud, capsys):
    with announced("nim (run)", "saved in a folder for the next time"):
        time.sleep(0.3)
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err == "compiling nim (run); saved in a folder for the next time\n"


def test_each_loop_has_a_name_of_its_own_in_plain_words():
    names = {build.name: label(make_run(build), None) for build in (*BUILDS, INFORMATION_SETS)}
    assert names["plain"] == "the search loop, for all games"
    assert names["solver"] == "the search loop with the solver, for all games"
    assert names["stochastic"] == "the search loop with chance and immediate rewards, for all games"
    loops = [make_exchange(build, in_flight=flag) for build in (PROBLEM, PROBLEM_FULL) for flag in (False, True)]
    texts = [*names.values(), *(label(loop, None) for loop in loops), label(make_gather(BUILDS[0]), "nim")]
    assert len(set(texts)) == len(texts)
    assert (
        label(make_exchange(PROBLEM, in_flight=False), None) == "the search loop for Python problems, for all of them"
    )


def test_what_is_done_at_once_is_not_reported(loud, capsys, monkeypatch):
    monkeypatch.setattr(preparing, "_NOTICE_AFTER", 60.0)
    with announced("nim (run)", "kept"):
        pass
    assert capsys.readouterr().err == ""


def test_notices_can_be_turned_off(loud, capsys, monkeypatch):
    monkeypatch.setenv("TREETOP_QUIET", "1")
    with announced("nim (run)", "kept"):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


ON_TERMINAL = """
import time
from treetop.compiler import preparing
preparing._NOTICE_AFTER = 0.0
with preparing.announced("nim (run)", "kept"):
    time.sleep(0.5)
"""


def test_a_terminal_shows_a_spinner_and_keeps_nothing_of_it():
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in ("TREETOP_QUIET", "NO_COLOR", "CI")} | {
        "TERM": "xterm-256color"
    }
    subprocess.run([sys.executable, "-c", ON_TERMINAL], stderr=theirs, env=env, check=True)
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    assert "compiling nim (run)" in drawn
    assert "\x1b[2K" in drawn  # the line is cleared at the end
