"""Real processes, really killed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from treetop.errors import ConfigError
from treetop.workers.pool import Pool
from treetop.workers.transport import Died, InProcess
from treetop.workers.units import Failure, Unit, WorkerError, resolve

JOBS = "tests.workers.jobs"
REPOSITORY = Path(__file__).resolve().parents[2]


def units(*arguments: object) -> list[Unit]:
    return [Unit(f"unit {argument}", (argument,)) for argument in arguments]


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pids: list[int], seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def family(folder: Path) -> list[int]:
    """The workers of `with_children`, and their children."""
    return [int(pid) for entry in folder.iterdir() for pid in entry.name.split(".")]


@pytest.mark.parametrize("ahead", [0, 2])
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_every_unit_is_done_once(workers, ahead):
    with Pool(f"{JOBS}:squares", workers=workers, ahead=ahead) as pool:
        outcomes = {outcome.unit.id: outcome for outcome in pool.run(units(*range(10)))}
    assert {key: outcome.value for key, outcome in outcomes.items()} == {f"unit {n}": n * n for n in range(10)}
    assert all(outcome.ok and outcome.attempts == 1 for outcome in outcomes.values())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_is_set_up_once_and_serves_the_next_run_too(tmp_path, workers):
    with Pool(f"{JOBS}:counting_setups", (str(tmp_path),), workers=workers) as pool:
        first = [outcome.value for outcome in pool.run(units(*range(6)))]
        second = [outcome.value for outcome in pool.run(units(*range(6)))]
    assert len({pid for _, pid in first + second}) <= workers
    assert len(list(tmp_path.iterdir())) == workers
    assert (os.getpid() in {pid for _, pid in first}) == (workers == 1)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_unit_that_raises_is_reported_and_costs_nobody_else(workers):
    with Pool(f"{JOBS}:fails_on_three", workers=workers) as pool:
        outcomes = {outcome.unit.arguments[0]: outcome for outcome in pool.run(units(*range(6)))}
    failed = outcomes.pop(3)
    assert failed.failure is Failure.raised
    assert failed.reason == "ValueError: three is not liked"
    assert "jobs.py" in failed.traceback
    assert [outcomes[n].value for n in sorted(outcomes)] == [0, 1, 2, 4, 5]


def test_no_worker_is_started_for_which_there_is_no_unit(tmp_path):
    with Pool(f"{JOBS}:counting_setups", (str(tmp_path),), workers=3) as pool:
        assert len(list(pool.run(units(1)))) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_results_arrive_as_they_finish_and_units_are_taken_when_needed():
    taken = []

    def source():
        for seconds in (1.0, 0.0, 0.0, 0.0):
            taken.append(seconds)
            yield Unit(f"{len(taken)}", (seconds,))

    with Pool(f"{JOBS}:sleeps", workers=2) as pool:
        outcomes = pool.run(source())
        first = next(outcomes)
        assert first.value == 0.0
        assert len(taken) <= 4
        assert [outcome.unit.id for outcome in outcomes][-1] == "1"


def test_workers_have_units_at_hand_ahead_of_time():
    taken = []

    def source():
        for number in range(10):
            taken.append(number)
            yield Unit(f"{number}", (number,))

    with Pool(f"{JOBS}:squares", workers=1, ahead=3) as pool:
        outcomes = pool.run(source())
        seen = [(outcome.value, len(taken)) for outcome in outcomes]
    assert seen == [(0, 4), (1, 5), (4, 6), (9, 7), (16, 8), (25, 9), (36, 10), (49, 10), (64, 10), (81, 10)]


def test_large_units_and_values_do_not_wait_for_each_other():
    large = b"x" * 3_000_000
    with Pool(f"{JOBS}:echoes", workers=2, ahead=2) as pool:
        outcomes = list(pool.run(Unit(str(number), (large,)) for number in range(12)))
    assert [outcome.value == large for outcome in outcomes] == [True] * 12


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_unit_past_its_deadline_is_killed_and_reported_and_the_others_are_done(ahead):
    with Pool(f"{JOBS}:sleeps", workers=2, deadline=1.0, ahead=ahead) as pool:
        start = time.monotonic()
        outcomes = {outcome.unit.arguments[0]: outcome for outcome in pool.run(units(0.0, 600, 0.01, 0.02, 0.03, 0.04))}
        assert time.monotonic() - start < 20
    assert outcomes[600].failure is Failure.deadline
    assert outcomes[600].reason == "it took longer than 1 s"
    assert outcomes[600].attempts == 1
    assert all(outcomes[seconds].ok for seconds in (0.0, 0.01, 0.02, 0.03, 0.04))


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_killed_worker_costs_its_unit_one_attempt_and_no_other(tmp_path, ahead):
    with Pool(f"{JOBS}:dies", (str(tmp_path), 1), workers=2, ahead=ahead) as pool:
        outcomes = {outcome.unit.arguments[0]: outcome for outcome in pool.run(units(*range(6)))}
    assert {key: outcome.value for key, outcome in outcomes.items()} == {n: n for n in range(6)}
    assert [outcomes[n].attempts for n in range(6)] == [1, 1, 2, 1, 1, 1]


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_unit_that_kills_two_workers_is_reported(tmp_path, ahead):
    with Pool(f"{JOBS}:dies", (str(tmp_path), 9), workers=2, ahead=ahead) as pool:
        outcomes = {outcome.unit.arguments[0]: outcome for outcome in pool.run(units(*range(6)))}
    assert outcomes[2].failure is Failure.died
    assert outcomes[2].reason == "the worker was killed by SIGKILL, 2 times"
    assert sorted(n for n, outcome in outcomes.items() if outcome.ok) == [0, 1, 3, 4, 5]


def test_a_worker_killed_from_outside_is_replaced(tmp_path):
    with Pool(f"{JOBS}:counting_setups", (str(tmp_path),), workers=2) as pool:
        outcomes = pool.run(units(*range(400)))
        killed = next(outcomes).value[1]
        os.kill(killed, signal.SIGKILL)
        rest = list(outcomes)
    assert len(rest) == 399
    assert all(outcome.ok for outcome in rest)
    assert gone([killed])


def test_an_early_stop_ends_workers_and_their_children(tmp_path):
    with Pool(f"{JOBS}:with_children", (str(tmp_path),), workers=2) as pool:
        outcomes = pool.run(units("one", "hang", "two"))
        assert next(outcomes).value in ("one", "two")
    processes = family(tmp_path)
    assert len(processes) >= 2
    assert gone(processes)
    assert not multiprocessing.active_children()


def test_an_exception_in_the_loop_ends_all_workers(tmp_path):
    def look_at_values() -> None:
        with Pool(f"{JOBS}:with_children", (str(tmp_path),), workers=2) as pool:
            for _ in pool.run(units("one", "hang", "two")):
                raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        look_at_values()
    assert gone(family(tmp_path))


def test_a_deadline_ends_the_children_too(tmp_path):
    with Pool(f"{JOBS}:with_children", (str(tmp_path),), workers=2, deadline=1.0) as pool:
        outcomes = list(pool.run(units("hang")))
        assert outcomes[0].failure is Failure.deadline
        assert gone(family(tmp_path))


_SCRIPT = """
import sys
from treetop.workers.pool import Pool
from treetop.workers.units import Unit
if __name__ == "__main__":
    with Pool("tests.workers.jobs:with_children", (sys.argv[1],), workers=2) as pool:
        for outcome in pool.run(Unit(f"{n} {what}", (what,)) for n, what in enumerate(["one", "hang", "hang"])):
            print(outcome.value, flush=True)
"""


@contextlib.contextmanager
def script(tmp_path: Path):
    """A program with two workers, of which both hang before long."""
    marks = tmp_path / "marks"
    marks.mkdir()
    file = tmp_path / "program.py"
    file.write_text(_SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(file), str(marks)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "one\n"
        while len(list(marks.iterdir())) < 2:
            time.sleep(0.02)
        yield process, marks
    finally:
        process.kill()
        process.communicate()


def test_ctrl_c_ends_everything(tmp_path):
    with script(tmp_path) as (process, marks):
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert process.returncode == -signal.SIGINT
        assert err.count("Traceback") == 1, err
        assert err.rstrip().endswith("KeyboardInterrupt")
        assert gone(family(marks))


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_workers_do_not_outlive_a_parent_that_is_killed(tmp_path, seconds):
    """While one of them is still being set up, and while both work."""
    with script(tmp_path) as (process, marks):
        time.sleep(seconds)
        process.kill()
        process.wait()
        assert gone(family(marks))


def test_an_error_of_the_setup_is_the_callers_error():
    for workers in (1, 2):
        with Pool(f"{JOBS}:broken", workers=workers) as pool, pytest.raises(ConfigError, match="this cannot be set up"):
            list(pool.run(units(1, 2)))
    with (
        Pool(f"{JOBS}:broken_strangely", workers=2) as pool,
        pytest.raises(WorkerError, match="ZeroDivisionError: nothing fits"),
    ):
        list(pool.run(units(1, 2)))


def test_workers_that_die_before_they_are_ready_are_not_started_for_ever():
    with (
        Pool(f"{JOBS}:dies_at_once", workers=2) as pool,
        pytest.raises(WorkerError, match="exit code 7 before it was ready"),
    ):
        list(pool.run(units(1, 2)))


def test_a_value_that_cannot_be_sent_is_a_failure_of_its_unit():
    with Pool(f"{JOBS}:unpicklable", workers=2) as pool:
        outcomes = list(pool.run([Unit("a"), Unit("b")]))
    assert {outcome.failure for outcome in outcomes} == {Failure.raised}
    assert "cannot be sent" in outcomes[0].reason


def test_without_processes_what_was_set_up_is_closed_at_the_end(tmp_path):
    with Pool(f"{JOBS}:closing", (str(tmp_path),), workers=0) as pool:
        assert [outcome.value for outcome in pool.run(units(5))] == [5]
        assert not list(tmp_path.iterdir())
    assert [entry.name for entry in tmp_path.iterdir()] == ["closed"]


def test_a_failing_source_of_units_loses_no_value():
    def source():
        yield Unit("a", (1,))
        yield Unit("b", (2,))
        raise RuntimeError("no more")

    values = []

    def collect() -> None:
        with Pool(f"{JOBS}:squares", workers=1) as pool:
            for outcome in pool.run(source()):
                values.append(outcome.value)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(RuntimeError, match="no more"):
        collect()
    assert values == [1, 4]


def test_a_pool_works_from_a_thread():
    values: list[int] = []

    def work() -> None:
        with Pool(f"{JOBS}:squares", workers=2) as pool:
            values.extend(outcome.value for outcome in pool.run(units(3, 4)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert sorted(values) == [9, 16]


def test_bad_settings_are_reported():
    with pytest.raises(ConfigError, match="workers must be"):
        Pool(f"{JOBS}:squares", workers=-1)
    with pytest.raises(ConfigError, match="ahead must be"):
        Pool(f"{JOBS}:squares", workers=2, ahead=-1)
    with pytest.raises(ConfigError, match="positive number of seconds"):
        Pool(f"{JOBS}:squares", workers=1, deadline=0)
    with (
        Pool(f"{JOBS}:squares", workers=0) as pool,
        pytest.raises(ConfigError, match="two units of work have the id 'unit 1'"),
    ):
        list(pool.run(units(1, 1)))
    for wrong, words in (
        ("squares", "module:function"),
        ("no.such:thing", "cannot be imported"),
        (f"{JOBS}:nothing", "has no function"),
    ):
        with pytest.raises(ConfigError, match=words):
            resolve(wrong)


def test_workers_that_wait_leave_no_children_behind(tmp_path):
    with Pool(f"{JOBS}:with_children", (str(tmp_path),), workers=2) as pool:
        assert len(list(pool.run(units("one", "two", "three")))) == 3
    assert gone(family(tmp_path))


def test_workers_that_wait_may_put_things_in_order(tmp_path):
    with Pool(f"{JOBS}:closing", (str(tmp_path),), workers=2) as pool:
        assert len(list(pool.run(units(5)))) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["closed"]


def test_a_death_is_seen_even_where_a_child_keeps_the_pipe_open(tmp_path):
    start = time.monotonic()
    with Pool(f"{JOBS}:leaves_a_child_with_the_pipe", (str(tmp_path),), workers=2) as pool:
        outcomes = {outcome.unit.arguments[0]: outcome for outcome in pool.run(units(1, 2, 3))}
    assert outcomes[2].attempts == 2
    assert all(outcome.ok for outcome in outcomes.values())
    assert time.monotonic() - start < 7


@pytest.mark.parametrize("workers", [1, 2])
def test_an_iterator_that_had_no_unit_is_asked_again_after_each_outcome(workers):
    class Following:
        """Each value makes one more unit, until there were four."""

        def __init__(self) -> None:
            self.ready, self.made = [2], 1

        def __iter__(self):
            return self

        def __next__(self) -> Unit:
            if not self.ready:
                raise StopIteration
            return Unit(f"unit {self.made}", (self.ready.pop(),))

    following = Following()
    seen = []
    with Pool(f"{JOBS}:squares", workers=workers) as pool:
        for outcome in pool.run(following):
            seen.append(outcome.value)
            if following.made < 4:
                following.made += 1
                following.ready.append(outcome.value)
    assert seen == [4, 16, 256, 65536]


def numbered(*words: str) -> list[Unit]:
    return [Unit(f"unit {number}", (number, word)) for number, word in enumerate(words)]


def test_workers_are_ready_before_the_first_unit_and_kept_when_they_are_set_up_anew(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with Pool(f"{JOBS}:kept", workers=2) as pool:
        pool.set_up(str(first))
        pool.wait_until_ready()
        pids = {int(entry.name) for entry in first.iterdir()}
        assert len(pids) == 2
        pool.set_up(str(second))
        assert {outcome.value[0] for outcome in pool.run(numbered(*["go"] * 6))} == {str(second)}
        assert {int(entry.name) for entry in second.iterdir()} == pids
    assert gone(list(pids))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_heeds_a_cancelled_unit_is_kept(tmp_path, workers):
    with Pool(f"{JOBS}:kept", workers=workers, ahead=1) as pool:
        pool.set_up(str(tmp_path))
        for _ in range(3):
            for _ in pool.run(numbered("go", *["wait" if workers > 1 else "go"] * 3)):
                break
        assert all(outcome.value[0] == str(tmp_path) for outcome in pool.run(numbered(*["go"] * 6)))
        assert len(list(tmp_path.iterdir())) == workers


def test_a_kept_worker_that_died_between_two_runs_is_replaced(tmp_path):
    with Pool(f"{JOBS}:kept", workers=2) as pool:
        pool.set_up(str(tmp_path))
        pool.wait_until_ready()
        os.kill(int(next(tmp_path.iterdir()).name), signal.SIGKILL)
        pool.set_up(str(tmp_path))
        pool.wait_until_ready()
        assert len(list(pool.run(numbered(*["go"] * 4)))) == 4
        assert len(list(tmp_path.iterdir())) == 3


class _Losing:
    """A transport whose machines are lost, each as soon as it works, the first so many times."""

    arguments = ()
    capacity = 1

    def __init__(self, times: int) -> None:
        self.times = times

    def start(self):
        self.times -= 1
        worker = InProcess(f"{JOBS}:squares", ()).start()
        if self.times >= 0:
            receive = worker.receive
            worker.receive = lambda: Died("the machine was lost", lost=True) if worker._ready else receive()
        return worker

    def wait(self, workers, timeout):
        return [worker for worker in workers if worker.has_something_to_say()]

    def close(self):
        pass


@pytest.mark.parametrize(("times", "lost"), [(3, False), (9, False), (10, True)])
def test_the_loss_of_machines_is_not_an_attempt_of_the_unit_up_to_a_bound(times, lost):
    with Pool("", workers=1, transport=_Losing(times)) as pool:
        (outcome,) = pool.run(units(7))
    if lost:
        assert (outcome.failure, outcome.reason) == (Failure.died, "the machine was lost, 10 times")
    else:
        assert (outcome.value, outcome.attempts) == (49, 1)


def test_a_worker_that_is_not_ready_is_replaced_when_the_pool_is_set_up_again(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with Pool(f"{JOBS}:kept", workers=2) as pool:
        pool.set_up(str(first))
        pool.set_up(str(second))
        values = [outcome.value for outcome in pool.run(Unit(str(n), (n, "go")) for n in range(8))]
    assert len(values) == 8
    assert {folder for folder, _ in values} == {str(second)}
