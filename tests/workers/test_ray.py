"""Workers on a Ray cluster: two nodes on this machine, one of which is killed; what travels, and what is refused."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

import treetop as tt
from tests.cli.conftest import environment
from tests.workers.own_game import SOURCE
from tests.workers.test_pool import family, gone, units
from treetop.arena.log import read_match
from treetop.errors import ConfigError
from treetop.lab.experiments import Experiment, ExperimentRuns
from treetop.lab.runs import RunLog, read_runs
from treetop.lab.suite import run_suite
from treetop.workers.pool import Pool
from treetop.workers.units import Failure, Unit, WorkerError

ray = pytest.importorskip("ray", reason='needs the package ray: pip install -e ".[ray]"')
pytest.importorskip("grpc", reason='needs the package ray[client]: pip install -e ".[ray]"')
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*have no CPU of:UserWarning"),  # after a node was killed, for a while
    # Ray leaves the log files of the processes that it starts to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed file .*/ray/session_.*/logs/:ResourceWarning"),
]

REPOSITORY = Path(__file__).resolve().parents[2]
JOBS = "tests.workers.jobs"
MAKE = "tests.arena.stand_ins:make"
SETTINGS = {
    "RAY_AUTH_MODE": "disabled",
    "GRPC_ENABLE_FORK_SUPPORT": "0",  # else the client server sometimes fails to start its process
    "RAY_health_check_initial_delay_ms": "500",  # so that the death of a node is soon known
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "2",
}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Nodes:
    """A cluster of two nodes with one CPU each; the first is the head, the second may be killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self.port = free_port()
        self._cluster = Cluster(
            initialize_head=True, head_node_args={**self._settings(), "ray_client_server_port": self.port}
        )
        self.second = self.add()

    @staticmethod
    def _settings(path: Path = REPOSITORY) -> dict[str, Any]:
        return {
            "num_cpus": 1,
            "object_store_memory": 80 * 2**20,
            "include_dashboard": False,
            "env_vars": {"PYTHONPATH": str(path)},
        }

    @property
    def address(self) -> str:
        """The address for drivers on this machine."""
        return str(self._cluster.address)

    def add(self, path: Path = REPOSITORY) -> Any:
        """Add a node that imports Treetop from a folder."""
        return self._cluster.add_node(**self._settings(path))

    def kill(self, node: Any) -> None:
        """Kill a node with everything on it, as if its machine lost power."""
        self._cluster.remove_node(node, allow_graceful=False)

    def kill_second(self) -> None:
        """Kill the second node."""
        self.kill(self.second)
        self.second = None

    def repair(self) -> None:
        """Have two nodes again."""
        if self.second is None:
            self.second = self.add()
            until = time.monotonic() + 30
            while sum(node["Alive"] for node in ray.nodes()) != 2:
                assert time.monotonic() < until
                time.sleep(0.1)

    def stop(self) -> None:
        """End all nodes."""
        self._cluster.shutdown()


def processes_with(text: str) -> list[str]:
    """Return the commands of the processes that name a text, after waiting for them to end."""
    until = time.monotonic() + 15
    while True:
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found += [command] if text in command else []
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.1)


@pytest.fixture
def without_cluster(monkeypatch):
    """Settings under which a command starts a local instance of Ray in a folder of its own."""
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    for name, value in {**SETTINGS, "RAY_TMPDIR": folder}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    yield folder
    left = processes_with(folder)
    shutil.rmtree(folder, ignore_errors=True)
    assert not left


# First, while no cluster runs here.


def test_ctrl_c_ends_a_match_on_a_local_instance_cleanly_and_it_is_resumed_without_ray(without_cluster, tmp_path):
    options = (*("--make-player", MAKE, "--game", "tic_tac_toe", "--games", "14", "--seed", "2"), "--any-opening")
    command = [sys.executable, "-m", "treetop", "match", "slow:0.04", "random", *options]
    process = subprocess.Popen(
        [*command, "--workers", "2", "--on", "ray", "--out", "m.jsonl"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    file, until = tmp_path / "m.jsonl", time.monotonic() + 60
    while not file.exists() or file.read_bytes().count(b"\n") < 4:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err.count("Traceback")) == (130, 0)
    assert err.rstrip().splitlines()[-1].startswith("interrupted; continue with:  treetop match")
    kept = read_match(file)[1]
    assert 3 <= len(kept) < 14
    assert "slow:0.04 against random" in out
    settings = {"games": 14, "seed": 2, "make_player": MAKE, "balanced": False, "workers": 1}
    resumed = tt.match("slow:0.04", "random", "tic_tac_toe", out=file, **settings)
    whole = tt.match("slow:0.04", "random", "tic_tac_toe", out=tmp_path / "whole.jsonl", **settings)
    assert (resumed.wins, resumed.draws, resumed.losses) == (whole.wins, whole.draws, whole.losses)
    assert without_times(read_match(file)[1]) == without_times(read_match(tmp_path / "whole.jsonl")[1])


@pytest.fixture(scope="module")
def nodes():
    """A cluster, to which this process is connected from an empty folder."""
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # a short path: it holds sockets
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**SETTINGS, "RAY_TMPDIR": folder}.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        cluster = Nodes()
        patch.setenv("RAY_ADDRESS", cluster.address)
        try:
            ray.init("auto", logging_level="ERROR", log_to_driver=False)
            yield cluster
        finally:
            ray.shutdown()
            cluster.stop()
            left = processes_with(folder)
            shutil.rmtree(folder, ignore_errors=True)
    assert not left


@pytest.fixture
def two_nodes(nodes):
    nodes.repair()
    return nodes


def without_times(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


# The pool.


def test_every_unit_is_done_once_on_both_nodes_and_failures_are_reported(two_nodes):
    with Pool(f"{JOBS}:fails_on_three", workers=2, on="ray", ahead=1) as pool:
        outcomes = {outcome.unit.arguments[0]: outcome for outcome in pool.run(units(*range(12)))}
    failed = outcomes.pop(3)
    assert (failed.failure, failed.reason) == (Failure.raised, "ValueError: three is not liked")
    assert "jobs.py" in failed.traceback
    assert {n: outcome.value for n, outcome in outcomes.items()} == {n: n for n in range(12) if n != 3}


def test_a_unit_that_kills_its_process_is_tried_twice(two_nodes, tmp_path):
    with Pool(f"{JOBS}:dies", (str(tmp_path), 9), workers=2, on="ray") as pool:
        outcomes = {outcome.unit.arguments[0]: outcome for outcome in pool.run(units(*range(4)))}
    assert outcomes[2].failure is Failure.died
    assert outcomes[2].reason == f"the worker was killed by SIGKILL, on {socket.gethostname()}, 2 times"
    assert sorted(n for n, outcome in outcomes.items() if outcome.ok) == [0, 1, 3]


def test_a_deadline_ends_a_unit_and_everything_it_started(two_nodes, tmp_path):
    with Pool(f"{JOBS}:with_children", (str(tmp_path),), workers=2, on="ray", deadline=1.0) as pool:
        outcomes = {outcome.unit.arguments[0]: outcome for outcome in pool.run(units("one", "hang"))}
        assert outcomes["one"].ok
        assert outcomes["hang"].failure is Failure.deadline
    assert gone(family(tmp_path))


def test_workers_are_set_up_again_and_heed_a_cancelled_unit(two_nodes, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with Pool(f"{JOBS}:kept", (str(first),), workers=2, on="ray") as pool:
        pool.set_up(str(first))
        pool.wait_until_ready()
        for _ in pool.run([Unit("1", (1, "go")), Unit("2", (2, "wait")), Unit("3", (3, "wait"))]):
            break
        pool.set_up(str(second))
        pool.wait_until_ready()
        values = [outcome.value for outcome in pool.run(Unit(str(n), (n, "go")) for n in range(6))]
    assert {folder for folder, _ in values} == {str(second)}
    assert {entry.name for entry in first.iterdir()} == {entry.name for entry in second.iterdir()}


def test_more_workers_than_cpus_are_noticed_and_do_not_hang(two_nodes):
    with pytest.warns(UserWarning, match="3 workers were requested, and the Ray cluster has 2 CPUs"):
        pool = Pool(f"{JOBS}:sleeps", workers=3, on="ray")
    with pool:
        outcomes = list(pool.run(units(0.1, 0.2, 0.3, 0.4)))
    assert sorted(outcome.value for outcome in outcomes) == [0.1, 0.2, 0.3, 0.4]


# Matches, evaluations and proofs, with the results of a local run.


def test_a_match_loses_nothing_with_a_node_and_equals_a_local_one(two_nodes, tmp_path):
    players = ("slow:0.03", "winner")
    options = {"games": 24, "seed": 5, "make_player": MAKE}
    local = tt.match(*players, "tic_tac_toe", workers=1, out=tmp_path / "local.jsonl", **options)
    finished = []

    def kill_in_the_middle(now: tt.arena.MatchProgress) -> None:
        finished.append(now.finished)
        if now.finished == 6:
            two_nodes.kill_second()

    clustered = tt.match(
        *players,
        "tic_tac_toe",
        workers=2,
        on="ray",
        out=tmp_path / "cluster.jsonl",
        progress=kill_in_the_middle,
        **options,
    )
    assert two_nodes.second is None
    assert finished == list(range(1, 25))
    assert (clustered.wins, clustered.draws, clustered.losses) == (local.wins, local.draws, local.losses)
    records = {place: read_match(tmp_path / f"{place}.jsonl")[1] for place in ("local", "cluster")}
    assert without_times(records["cluster"]) == without_times(records["local"])
    assert len((tmp_path / "cluster.jsonl").read_text().splitlines()) == 25  # each game once


def test_an_evaluation_started_here_is_finished_on_a_cluster(two_nodes, tmp_path):
    options = {"games": 6, "seed": 3}
    for name in ("local", "moved"):
        tt.evaluate("nim(stones=9)", ("random", "greedy"), workers=1, out=tmp_path / name, **{**options, "games": 2})
    local = tt.evaluate("nim(stones=9)", ("random", "greedy"), workers=1, out=tmp_path / "local", **options)
    moved = tt.evaluate("nim(stones=9)", ("random", "greedy"), on="ray", out=tmp_path / "moved", **options)
    assert [score.mean for score in moved.scores] == [score.mean for score in local.scores]
    assert without_times(read_match(tmp_path / "moved")[1]) == without_times(read_match(tmp_path / "local")[1])


FORMULAS = {
    "swap": "(p & q) => (q & p)",
    "either": "(p | q) => (q | p)",
    "peirce": "((p => q) => p) => p",
    "chain": "((p => q) & (q => r)) => (p => r)",
    "spread": "((p | q) => r) => ((p => r) & (q => r))",
}


def test_a_proof_suite_on_a_cluster_equals_a_local_one_and_moves_back(two_nodes, tmp_path):
    problems = tmp_path / "problems"
    problems.mkdir()
    for name, formula in FORMULAS.items():
        (problems / f"{name}.p").write_text(f"fof({name}, conjecture, {formula}).")
    experiment = Experiment(problems, tt.prove.ProofConfig(), tt.Limit(simulations=40), mode="raw")
    sent, files = experiment.packed()
    assert sorted(files) == sorted(f"problems/{name}.p" for name in FORMULAS)

    def run(name: str, seeds: range, **options: Any) -> Any:
        with RunLog(tmp_path / name, {}) as log:
            return run_suite(experiment.problems(), ExperimentRuns(), log, policies=["ucb1"], seeds=seeds, **options)

    local = run("local", range(4), arguments=(experiment,))
    run("moved", range(2), arguments=(sent,), workers=2, on="ray", files=files)
    moved = run("moved", range(4), arguments=(experiment,))
    assert moved.complete
    assert local.complete

    def plain(name: str) -> list[Any]:
        found = read_runs(tmp_path / name)[1]
        return sorted(tuple({**run.to_dict(), "seconds": 0}.items()) for run in found)

    assert plain("moved") == plain("local")


def test_a_proof_search_has_its_workers_on_a_cluster(two_nodes):
    result = tt.prove("(p | q -> r) <-> (p -> r) & (q -> r)", workers=2, on="ray", seed=1)
    assert result.proved
    with tt.prove.ProverSession(on="ray") as session, pytest.raises(ConfigError, match="give `on` to the session"):
        tt.prove("p -> p", session=session, on="ray")


def test_a_tournament_on_a_cluster_equals_a_local_one(two_nodes):
    played = tt.tournament(["random", "greedy"], "tic_tac_toe", games=4, seed=1, workers=2, on="ray")
    assert str(played) == str(tt.tournament(["random", "greedy"], "tic_tac_toe", games=4, seed=1, workers=1))


def test_a_position_is_searched_on_a_cluster_as_in_processes(two_nodes):
    options = {"simulations": 200, "seed": 6, "workers": 2}
    result = tt.search(tt.position("tic_tac_toe", moves="b2 a1"), on="ray", **options)
    local = tt.search(tt.position("tic_tac_toe", moves="b2 a1"), **options)
    assert (result.counts.tolist(), result.means.tolist()) == (local.counts.tolist(), local.means.tolist())
    assert "merged from 2 searches of 200 simulations each" in str(result)


# What travels.


def test_a_game_and_a_player_of_your_own_travel_as_files(two_nodes, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "stones.py").write_text(SOURCE)
    (tmp_path / "own_players.py").write_text(SOURCE)
    command = [
        *(sys.executable, "-m", "treetop", "match", "own_players:lost", "greedy", "--game", "sub/stones.py:Stones"),
        *("--games", "4", "--workers", "2", "--json", "--on", f"ray://127.0.0.1:{two_nodes.port}"),
    ]
    ended = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    said = [line for line in ended.stderr.splitlines() if " games, " not in line]  # a slow match shows its progress
    assert (ended.returncode, said) == (0, [])
    reported = json.loads(ended.stdout)
    assert (reported["wins"], reported["losses"], reported["forfeits"]) == (0, 4, {"A": 4, "B": 0})
    places = [Path(reason.rpartition(" ")[2]) for reason in reported["forfeit_reasons"]["A"]]
    assert all(place.parent.name.startswith("treetop-") and place.name == "own_players.py" for place in places)
    assert not any(place.parent.exists() for place in places)


# Addresses and machines that are refused.


@pytest.fixture
def unconnected(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr("treetop.workers.connection._ANSWERS", 1.0)


def test_an_address_that_does_not_answer_is_soon_an_error(unconnected, tmp_path, monkeypatch):
    start = time.monotonic()
    with pytest.raises(WorkerError, match="nothing answers at ray://127.0.0.1:.*ray start --head"):
        tt.match("random", "random", "nim", games=2, out=tmp_path / "m", on=f"ray://127.0.0.1:{free_port()}")
    with socket.socket() as deaf:  # it accepts connections, and says nothing
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        with pytest.raises(WorkerError, match="is not a client server of Ray"):
            tt.match("random", "random", "nim", games=2, on=f"ray://127.0.0.1:{deaf.getsockname()[1]}")
    for named, words in (
        ("127.0.0.1:1", "nothing answers at .*:1, which RAY_ADDRESS names"),
        ("ray://x", "host:port"),
        ("x", "host:port"),
    ):
        monkeypatch.setenv("RAY_ADDRESS", named)
        with pytest.raises((WorkerError, ConfigError), match=words):
            tt.match("random", "random", "nim", games=2, on="ray")
    assert time.monotonic() - start < 10


def test_a_connected_program_connects_to_no_other_cluster(two_nodes):
    with pytest.raises(ConfigError, match="connected to a Ray cluster already"):
        tt.match("random", "random", "nim", games=2, on="ray://127.0.0.1:1")


@contextlib.contextmanager
def another_node(nodes: Nodes, path: Path):
    node = nodes.add(path)
    try:
        yield
    finally:
        nodes._cluster.remove_node(node)


def test_self_play_on_a_cluster_loses_a_node_and_only_its_games_in_progress(two_nodes, tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[torch]'")
    options = {"slots": 16, "simulations": 4, "chunk": 256, "rating_games": 0, "iterations": 3}

    def kill_once(event: Any) -> None:
        if event.iteration == 1:
            two_nodes.kill_second()

    run = tt.train("tic_tac_toe", out=tmp_path / "run", workers=2, on="ray", on_event=kill_once, **options)
    assert two_nodes.second is None
    assert run.iteration == 3
    assert run.replay.total >= 3 * 256


def test_machines_without_this_treetop_are_named(two_nodes, tmp_path):
    package = tmp_path / "treetop"
    package.mkdir()
    source = package / "__init__.py"
    version = tt.__version__
    host = socket.gethostname()
    with another_node(two_nodes, tmp_path):
        for text, words in (
            (
                "raise ModuleNotFoundError('none here')",
                f"the machine {host} has no Treetop .*install version {version}",
            ),
            ("__version__ = '0.0.9'", f"the machine {host} has Treetop 0.0.9, and this one {version}"),
            (f"__version__ = {version!r}", f"the machine {host} has other sources of Treetop {version}"),
        ):
            source.write_text(text)
            with Pool(f"{JOBS}:sleeps", workers=3, on="ray") as pool, pytest.raises(WorkerError, match=words):
                list(pool.run(units(*(0.2 + n / 1000 for n in range(40)))))


def test_other_rules_on_a_machine_are_named(two_nodes):
    from treetop.arena.playing import SETUP

    arguments = ("nim(stones=9)", "treetop.players.spec:make_player", None, (), "0" * 64)
    words = f"has other rules on the machine {socket.gethostname()}"
    with Pool(SETUP, arguments, workers=2, on="ray") as pool, pytest.raises(ConfigError, match=words):
        list(pool.run(units(1)))
