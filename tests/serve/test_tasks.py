"""Background searches: slices in turn, deadlines, stops, failures."""

from __future__ import annotations

import threading
import time

import pytest

import treetop as tt
from treetop.serve.tasks import Scheduler, Thinking


class Steps:
    """A task of some steps, which notes when it ran."""

    def __init__(self, count, log, name, deadline=float("inf")):
        self.left, self.log, self.name, self.deadline = count, log, name, deadline
        self.error = None

    def step(self, seconds):
        self.log.append(self.name)
        self.left -= 1
        return self.left > 0

    def fail(self, error):
        self.error = error


class Broken(Steps):
    def step(self, seconds):
        raise ValueError("broken")


def held(scheduler):
    """Occupy the thread of a scheduler until the returned event is set."""
    release, started = threading.Event(), threading.Event()

    class Hold(Steps):
        def step(self, seconds):
            started.set()
            release.wait(10)
            return False

    scheduler.add(Hold(1, [], "hold"))
    assert started.wait(10)
    return release


def test_tasks_take_turns():
    log = []
    with Scheduler() as scheduler:
        release = held(scheduler)
        for name in "abc":
            scheduler.add(Steps(2, log, name))
        release.set()
        assert scheduler.wait(10)
    assert "".join(log) == "abcabc"


def test_a_task_whose_deadline_has_come_is_served_first():
    log = []
    with Scheduler() as scheduler:
        release = held(scheduler)
        scheduler.add(Steps(2, log, "a"))
        scheduler.add(Steps(1, log, "b", deadline=0.0))
        release.set()
        assert scheduler.wait(10)
    assert "".join(log) == "baa"


def test_a_failure_ends_its_own_task_only():
    log = []
    broken, good = Broken(1, log, "x"), Steps(3, log, "a")
    with Scheduler() as scheduler:
        scheduler.add(broken)
        scheduler.add(good)
        assert scheduler.wait(10)
    assert isinstance(broken.error, ValueError)
    assert log == ["a"] * 3


def test_closing_drops_what_is_not_finished():
    log = []
    scheduler = Scheduler(threads=2)
    scheduler.add(Steps(10**9, log, "a"))
    scheduler.close()
    assert len(scheduler) == 0
    assert len(log) < 10**9


def think(search, **options):
    """Run a search in the background; return its reports and errors."""
    reports, errors = [], []
    task = Thinking(search, report=lambda result, over: reports.append((result, over)), failed=errors.append, **options)
    return task, reports, errors


def test_a_search_ends_after_its_visits_and_reports_once():
    search = tt.Search("connect_four", seed=1)
    task, reports, errors = think(search, visits=20_000)
    with Scheduler() as scheduler:
        scheduler.add(task)
        assert scheduler.wait(60)
    assert not errors
    assert [over for _, over in reports] == [True]
    assert reports[0][0].root_visits == 20_000


def test_slices_do_not_change_the_search():
    search = tt.Search("connect_four", seed=1)
    task, reports, _ = think(search, visits=5_000)
    with Scheduler() as scheduler:
        others = [think(tt.Search("connect_four", seed=seed), visits=5_000)[0] for seed in (2, 3)]
        for one in (task, *others):
            scheduler.add(one)
        assert scheduler.wait(60)
    alone = tt.search("connect_four", simulations=5_000, seed=1)
    assert reports[0][0].visits == alone.visits


def test_a_search_reports_while_it_runs_and_can_be_stopped():
    task, reports, _ = think(tt.Search("othello", seed=1), every=0.02)
    with Scheduler() as scheduler:
        scheduler.add(task)
        end = time.monotonic() + 60
        while len(reports) < 3 and time.monotonic() < end:
            time.sleep(0.01)
        task.stop()
        assert scheduler.wait(10)
    assert [over for _, over in reports[-2:]] == [False, True]
    counts = [result.root_visits for result, _ in reports]
    assert counts == sorted(counts)


def test_a_search_says_once_that_it_has_been_compiled():
    ready = []
    task, _, _ = think(tt.Search("connect_four", seed=1), visits=100, ready=lambda: ready.append(task.started))
    assert not task.started
    while task.step(0.001):
        pass
    assert ready == [True]


def test_a_search_stopped_before_it_begins_still_has_a_result():
    task, reports, errors = think(tt.Search("connect_four", seed=1), seconds=100.0)
    task.stop()
    with Scheduler() as scheduler:
        scheduler.add(task)
        assert scheduler.wait(60)
    assert not errors
    assert reports[0][0].root_visits >= 1


@pytest.mark.parametrize("config", [tt.gumbel(), tt.uct(solver=True)])
def test_schedules_and_proofs_end_a_search(config):
    task, reports, errors = think(
        tt.Search("nim(stones=9)", config, evaluator=tt.evaluators.Uniform(), seed=1), visits=300
    )
    with Scheduler() as scheduler:
        scheduler.add(task)
        assert scheduler.wait(60)
    assert not errors
    assert reports[-1][1]


def test_a_position_with_one_move_needs_no_long_search():
    task, reports, _ = think(tt.Search(tt.position("nim(stones=1)"), seed=1), visits=10**6)
    with Scheduler() as scheduler:
        scheduler.add(task)
        assert scheduler.wait(60)
    assert reports[0][0].root_visits <= 64
