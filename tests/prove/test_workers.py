"""Several workers on one graph: goals are reserved, and a worker that is killed costs its reservation only."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.prove.test_search import provable_goals, random_table
from tests.prove.toy import Table, TableProver, TableTheorem
from treetop.errors import ConfigError, ProverError
from treetop.prove.config import POLICIES, ProofConfig
from treetop.prove.prover import Attempt, Place
from treetop.prove.search import ProofSearch
from treetop.prove.sessions import ProverSession
from treetop.search.limits import Limit

WIDE: Table = {"A": {"split": tuple("BCDEFGH")}, **{name: {"x": None, "y": None, "close": ()} for name in "BCDEFGH"}}


@dataclass(frozen=True)
class SlowTheorem(TableTheorem):
    """Its provers take their time, and say who they are."""

    seconds: float = 0.05
    folder: str = ""

    def open(self) -> SlowProver:
        return SlowProver(self)


class SlowProver(TableProver):
    def __init__(self, theorem: SlowTheorem) -> None:
        super().__init__(theorem.table, theorem.root)
        self._slow = theorem

    def attempt(self, place: Place, tactic: str, seconds: float | None = None) -> Attempt:
        if self._slow.folder:
            (Path(self._slow.folder) / str(os.getpid())).touch()
        time.sleep(self._slow.seconds)
        return super().attempt(place, tactic, seconds)


@pytest.mark.parametrize("policy", POLICIES)
def test_two_workers_prove_what_one_proves(policy):
    events: list[dict] = []
    with ProofSearch(
        SlowTheorem(WIDE, seconds=0.005), ProofConfig(policy=policy), seed=1, workers=2, trace=events.append
    ) as search:
        result = search.run(Limit(calls=500, seconds=60))
    assert result.proved
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))
    assert all(goal.in_flight == 0 and not goal.reserved for goal in result.graph.goals)


def test_two_workers_are_at_work_at_once(tmp_path):
    with ProofSearch(SlowTheorem(WIDE, folder=str(tmp_path)), seed=1, workers=2) as search:
        assert search.run(Limit(seconds=60)).proved
    assert len([file for file in tmp_path.iterdir() if int(file.name) != os.getpid()]) == 2


def test_two_workers_keep_limits_and_go_on_with_the_same_graph():
    with ProofSearch(SlowTheorem(WIDE, seconds=0.001), seed=1, workers=2) as search:
        assert search.run(Limit(calls=4)).attempts == 4
        assert search.run(Limit(simulations=1)).simulations > 1
        assert search.run(Limit(seconds=60)).proved


@pytest.mark.parametrize("seed", range(3))
def test_two_workers_decide_random_tables_as_by_exhaustion(seed):
    table = random_table(random.Random(seed))
    with ProofSearch(TableTheorem(table), ProofConfig(policy="puct"), seed=seed, workers=2) as search:
        assert search.run(Limit(seconds=60)).status == ("proved" if "A" in provable_goals(table) else "exhausted")


def test_a_killed_worker_costs_its_reservation_only(tmp_path):
    killed: list[int] = []
    with ProofSearch(SlowTheorem(WIDE, seconds=0.1, folder=str(tmp_path)), seed=1, workers=2) as search:

        def kill_one(now) -> None:
            others = [int(file.name) for file in tmp_path.iterdir() if int(file.name) != os.getpid()]
            if not killed and others:
                os.kill(others[0], signal.SIGKILL)
                killed.append(others[0])

        result = search.run(Limit(seconds=60), progress=kill_one)
    assert killed
    assert result.proved
    assert not any("lost" in tactic.reason for goal in result.graph.goals for tactic in goal.tactics)


class OpenTheorem(SlowTheorem):
    """Leaves a mark of the process in which it was opened."""

    def open(self) -> SlowProver:
        (Path(self.folder) / f"{self.name} {os.getpid()}").touch()
        return super().open()


def test_all_provers_are_open_before_the_search_begins_and_kept_for_the_next(tmp_path):
    with ProverSession(workers=2) as session:
        for name in ("first", "second", "third"):
            with ProofSearch(
                OpenTheorem(WIDE, name=name, seconds=0.001, folder=str(tmp_path)), seed=1, session=session
            ) as search:
                assert len(list(tmp_path.glob(f"{name} *"))) == 3
                assert search.run(Limit(seconds=60)).proved
    assert len({file.name.rpartition(" ")[2] for file in tmp_path.glob("* *")}) == 3


class ShutTheorem(SlowTheorem):
    """Cannot be opened."""

    def open(self) -> SlowProver:
        raise ProverError("it does not open")


def test_a_session_goes_on_after_a_theorem_that_cannot_be_opened():
    with ProverSession(workers=2) as session:
        with pytest.raises(ProverError, match="does not open"):
            ProofSearch(ShutTheorem(WIDE), session=session)
        with ProofSearch(SlowTheorem(WIDE, seconds=0.001), seed=1, session=session) as search:
            assert search.run(Limit(seconds=60)).proved


def test_a_session_decides_how_many_workers_there_are():
    with ProverSession() as session, pytest.raises(ConfigError, match="the session has 1 workers, not 2"):
        ProofSearch(TableTheorem(WIDE), workers=2, session=session)
    with pytest.raises(ConfigError, match="workers must be"):
        ProverSession(workers=0)
