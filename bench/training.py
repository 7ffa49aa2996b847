"""Measure training: where self-play spends its CPU time, and what 30 minutes give beside a naive trainer.

    python bench/training.py                       both parts, about 45 minutes
    python bench/training.py --only profile        the profile of self-play, a few minutes
    python bench/training.py --quick               a smoke test of both
    python bench/training.py --json out.json

The profile is that of self-play with default settings, in one process: of Connect Four for networks of two sizes, of
Othello 6x6 for one. It is CPU time, medians over repeats; in bfloat16, where self-play uses it, and in onnxruntime. The
second part trains two networks of the same shape, at the same time and each on half of the cores: with
`bench/naive_training.py`, one game at a time and one position in a batch, and with `tt.train`. Neither is rated while
it trains. Then both play a tournament with `random` and searches by rollouts; each network has 32 simulations a move.
Run it on an idle machine.
Needs pip install -e ".[torch]" and pip install -e ".[arena]".
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from naive_training import Trained
from naive_training import train as train_naively

import treetop as tt
from treetop.evaluators.networks.model import Model
from treetop.text import text_table
from treetop.train.options import TrainOptions
from treetop.train.self_play import SelfPlay

FOUR = "connect_four"
SIMULATIONS = 32  # of a network's move in the tournament
OPPONENTS = ("random", "uct(simulations=100)", "uct(simulations=1000)")
PARTS = ("profile", "training")
PROFILED = (FOUR, "small"), (FOUR, "medium"), ("othello(size=6)", "medium")  # the networks are not trained


# The profile.


class Clock:
    """The CPU time that some functions take in their own threads, and how often they are called."""

    def __init__(self) -> None:
        self.seconds, self.calls = 0.0, 0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is measured."""

        def call(*arguments: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.thread_time() - start
                self.calls += 1

        return call


@dataclass(frozen=True)
class Profile:
    """What self-play has done in some seconds, and the shares of its CPU time."""

    name: str
    network: float
    search: float
    """The share of the compiled search: gathering leaves and absorbing evaluations."""
    evaluator: float
    """The share of what surrounds the network: observations, masks, scaling."""
    rest: float
    """The share of everything else: targets, records of games, moves."""
    positions: float
    """Positions a second of wall time."""
    cpu_positions: float
    """Positions a second of CPU time."""
    evaluations: float
    """Evaluations of the network a second of wall time."""
    batch: float
    """The mean size of a batch."""
    lowest: float
    """The least share of the network in a repeat."""
    highest: float
    """Its greatest share."""


def profile(name: str, model: Model, seconds: float, repeats: int) -> Profile:
    """Return the medians over repeats of so many CPU seconds of self-play, by this model as it is."""
    options = TrainOptions().for_game(model.game)
    play, network, evaluator, search = SelfPlay(model, options, seed=1), Clock(), Clock(), Clock()
    play.current.model = model
    model.run = network.timed(model.run)  # type: ignore[method-assign]
    play.current.evaluate = evaluator.timed(play.current.evaluate)  # type: ignore[method-assign]
    slots = play._pool._slots
    slots.gather, slots.absorb = search.timed(slots.gather), search.timed(slots.absorb)  # type: ignore[method-assign]
    _play_for(play, seconds / 4)  # until code is compiled and games are in their middle
    found = []
    for _ in range(repeats):
        counts = play.positions, model.throughput.positions, model.throughput.batches
        before = [clock.seconds for clock in (network, evaluator, search)]
        wall, cpu = time.perf_counter(), time.process_time()
        _play_for(play, seconds)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        spent = [clock.seconds - start for clock, start in zip((network, evaluator, search), before, strict=True)]
        positions, evaluated, batches = (
            now - start
            for now, start in zip(
                (play.positions, model.throughput.positions, model.throughput.batches), counts, strict=True
            )
        )
        shares = [spent[0] / cpu, spent[2] / cpu, (spent[1] - spent[0]) / cpu]
        found.append(
            (*shares, 1 - sum(shares), positions / wall, positions / cpu, evaluated / wall, evaluated / batches)
        )
    columns = list(zip(*found, strict=True))
    return Profile(name, *(statistics.median(column) for column in columns), min(columns[0]), max(columns[0]))


def use_one_thread() -> None:
    """Let PyTorch use one thread, as in a worker of self-play."""
    import torch

    torch.set_num_threads(1)


def _play_for(play: SelfPlay, seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        play.step()


def print_profiles(profiles: list[Profile]) -> None:
    """Print a row for each network."""
    head = [
        "network", "network", "range", "search", "around the network", "rest", "positions/s", "per CPU second",
        "evaluations/s", "batch",
    ]  # fmt: skip
    rows = [
        [
            each.name, f"{each.network:.1%}", f"{each.lowest:.1%} to {each.highest:.1%}",
            *(f"{share:.1%}" for share in (each.search, each.evaluator, each.rest)),
            *(f"{rate:,.0f}" for rate in (each.positions, each.cpu_positions, each.evaluations)), f"{each.batch:.1f}",
        ]
        for each in profiles
    ]  # fmt: skip
    print(f"CPU time of self-play by shares (goal: the network at least 90%)\n\n{text_table(head, rows)}\n")


# Training beside the baseline.


def train_both(folder: Path, minutes: float, seed: int) -> dict[str, Trained]:
    """Train both networks at the same time, each on half of the cores; return what each run has done."""
    cores = sorted(os.sched_getaffinity(0))
    halves = {"naive": cores[: len(cores) // 2], "treetop": cores[len(cores) // 2 :]}
    with ProcessPoolExecutor(len(halves), multiprocessing.get_context("spawn")) as pool:
        runs = {name: pool.submit(train_one, name, half, folder, minutes, seed) for name, half in halves.items()}
        return {name: run.result() for name, run in runs.items()}


def train_one(name: str, cores: list[int], folder: Path, minutes: float, seed: int) -> Trained:
    """Train one of the networks on some cores, in a process of its own."""
    if cores:
        os.sched_setaffinity(0, cores)
    many, out = max(1, len(cores)), folder / name
    if name == "naive":
        return train_naively(str(out), minutes, seed=seed, threads=many)
    run = tt.train(FOUR, out=out, minutes=minutes, seed=seed, rating_games=0, workers=many)
    return Trained(run.games, run.replay.total, run.learner.steps, run.seconds)


def print_training(runs: dict[str, Trained]) -> None:
    """Print a row for each run, and the ratio of their speeds."""
    rates = {name: run.positions / run.seconds for name, run in runs.items()}
    rows = [
        [name, *(f"{count:,.0f}" for count in (run.seconds, run.games, run.positions, run.steps)), f"{rates[name]:.1f}"]
        for name, run in runs.items()
    ]
    print(text_table(["trainer", "seconds", "games", "positions", "steps", "positions/s"], rows))
    ratio = f"{rates['treetop'] / rates['naive']:.1f}" if rates["naive"] else "infinitely many"
    print(f"\nTreetop trains on {ratio} times as many positions a second\n")


def compare(folder: Path, games: int, seed: int, workers: int | None) -> dict[str, Any]:
    """Play a tournament of both networks and the opponents; print and return it."""
    networks = {
        name: f"net({str(folder / name)!r}, simulations={SIMULATIONS})"
        for name in ("naive", "treetop")
        if (folder / name / "model.json").exists()
    }
    players = networks | {spec: spec for spec in OPPONENTS}
    result = tt.tournament(players, FOUR, games=games, seed=seed, workers=workers, anchor=OPPONENTS[1])
    print(result)
    print()
    rows = [
        [*match.players, f"{match.score:.1%}", match.rating.elo.signed()]
        for match in result.matches.values()
        if match.players[0] in networks
    ]
    print(text_table(["player", "against", "score", "Elo difference (95% interval)"], rows))
    return result.to_dict()


def main() -> None:
    """Measure, print, and optionally write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts to measure")
    parser.add_argument("--minutes", type=float, default=30.0, help="of each training run")
    parser.add_argument("--seconds", type=float, default=20.0, help="of CPU time, of a repeat of the profile")
    parser.add_argument("--repeats", type=int, default=5, help="of the profile")
    parser.add_argument("--games", type=int, default=200, help="of each pairing of the tournament")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, help="processes of the tournament (default: one for each core)")
    parser.add_argument("--out", type=Path, help="a new folder for both networks (default: a temporary one)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: seconds instead of minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to a file")
    options = parser.parse_args()
    if options.quick:
        options.minutes, options.seconds, options.repeats, options.games = 0.1, 2.0, 2, 4
    figures = dict[str, Any]()
    models = {f"{name}, {size}": Model.untrained(tt.load_game(name), size) for name, size in PROFILED}
    if "training" in options.only:
        folder = options.out or Path(tempfile.mkdtemp(prefix="treetop-training-"))
        runs = train_both(folder, options.minutes, options.seed)
        print_training(runs)
        figures["training"] = {name: asdict(run) for name, run in runs.items()}
        figures["tournament"] = compare(folder, options.games, options.seed, options.workers)
        print(f"\nBoth networks are in {folder}\n")
        models[f"{FOUR}, small, trained"] = tt.load_model(folder / "treetop")
    if "profile" in options.only:
        os.environ["TREETOP_TIER"] = "direct"  # the profile is that of the code a long run uses
        use_one_thread()
        profiles = list[Profile]()
        for name, model in models.items():
            fast = model.for_self_play()
            if fast is not model:
                profiles.append(profile(f"{name}, bfloat16", fast, options.seconds, options.repeats))
            profiles.append(profile(f"{name}, onnxruntime", model, options.seconds, options.repeats))
        print_profiles(profiles)
        figures["profile"] = [asdict(each) for each in profiles]
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
