"""Jobs: searches for one request in slices, with a deadline, within the nodes of the server."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

import treetop as tt
from treetop.errors import ConfigError
from treetop.serve.engines import Engine
from treetop.serve.jobs import Job, compared, recorded, searched
from treetop.serve.limits import Limits, TooManyError, TooSlowError
from treetop.serve.nodes import Nodes
from treetop.serve.recording import Recorder
from treetop.serve.sessions import Sessions
from treetop.serve.tasks import Scheduler


@pytest.fixture
def scheduler():
    with Scheduler(1) as made:
        yield made


@pytest.fixture
def nodes():
    return Nodes(Limits())


def done(scheduler, steps):
    job = Job(steps)
    scheduler.add(job)
    return job.future.result(60)


def endless(log):
    try:
        while True:
            log.append("step")
            time.sleep(0.001)
            yield
    finally:
        log.append("closed")


def test_a_job_finds_what_one_search_finds(scheduler, nodes):
    found = done(scheduler, searched(tt.Search("connect_four", seed=1), 20_000, nodes))
    assert found.visits == tt.search("connect_four", simulations=20_000, seed=1).visits
    assert nodes.used == 0


def test_a_record_in_slices_is_the_record(scheduler, nodes):
    sliced = done(scheduler, recorded(tt.Search("connect_four", seed=3), 60_000, 5, nodes))
    assert sliced == Recorder(tt.Search("connect_four", seed=3), visits=60_000, detailed=5).run()
    assert nodes.used == 0


def test_a_job_that_takes_too_long_is_ended(scheduler):
    log, job = [], None
    job = Job(endless(log))
    scheduler.add(job)
    with pytest.raises(TooSlowError, match=r"more than 0.1 s: ask for fewer visits"):
        asyncio.run(job.result(0.1))
    assert scheduler.wait(10)
    assert log[-1] == "closed"


def test_an_error_of_a_job_is_raised_where_its_result_is_awaited(scheduler):
    def broken():
        yield
        raise ConfigError("broken")

    job = Job(broken())
    scheduler.add(job)
    with pytest.raises(ConfigError, match="broken"):
        asyncio.run(job.result(10))


def test_planned_roots_and_single_moves_end(scheduler, nodes):
    assert done(
        scheduler, searched(tt.Search("tic_tac_toe", tt.gumbel(), evaluator=tt.evaluators.Uniform()), 300, nodes)
    )
    assert done(scheduler, searched(tt.Search(tt.position("nim(stones=1)"), seed=1), 10**6, nodes)).root_visits <= 64


def test_comparisons_hold_one_tree_at_a_time(scheduler, nodes):
    used = []

    def make(seed):
        used.append(nodes.used)
        return Engine(seed=seed).search(tt.position("tic_tac_toe")), {"final": "visits"}

    found = done(scheduler, compared(make, 3, 500, nodes))
    assert used == [0, 0, 0]
    assert found["of"] == 3


def test_a_session_has_few_jobs_at_a_time_and_closing_it_ends_them(scheduler):
    sessions = Sessions(Engine(), scheduler, Limits(jobs=2))
    session, log = sessions.create(tt.position("nim"), (0,), 1), []
    jobs = [session.begin(endless(log)) for _ in range(2)]
    with pytest.raises(TooManyError, match="2 searches of this game are under way: wait for one of them"):
        session.begin(endless(log))
    sessions.close()
    assert scheduler.wait(10)
    for job in jobs:
        with pytest.raises(ConfigError, match="closed"):
            job.future.result(0)


def test_the_size_of_a_record_has_a_bound():
    search = tt.Search("othello", tt.uct(c=0.1), seed=1)
    recorder = Recorder(search, visits=3000, detailed=500)
    recorder._rows = 99_000
    found = recorder.run()
    assert len(found["simulations"]) < 500
    assert found["snapshots"][-1]["visits"] == 3000
    assert len(json.dumps(found)) < 1_000_000


def test_nothing_begins_in_a_closed_session(scheduler):
    sessions = Sessions(Engine(), scheduler, Limits())
    session = sessions.create(tt.position("nim"), (0,), 1)
    session.think(Engine(), visits=None, seconds=60.0)
    assert sessions.nodes.used
    sessions.remove(session.name)
    assert sessions.nodes.used == 0
    for begin in (
        lambda: session.think(Engine(), visits=10, seconds=1.0),
        lambda: session.begin(endless([])),
        lambda: session.begin_review(Engine(), 10),
    ):
        with pytest.raises(ConfigError, match="the game was closed: begin a new one"):
            begin()
