"""Measure short searches, many games at once, networks and threads: ratios in one run, medians of interleaved repeats.

    python bench/wide.py                         everything that is installed, about ten minutes
    python bench/wide.py --only short threads    some parts: short, pool, network, rules, threads
    python bench/wide.py --markdown              the table in Markdown
    python bench/wide.py --json out.json

`pip install -e ".[bench]"` installs what Treetop is compared with: OpenSpiel, mctx with pgx and JAX, onnxruntime.
Without one of them its rows are left out. One core is CPU time; two cores are wall time, on an idle machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from rich.console import Console
from rich.table import Table

import treetop as tt
from treetop.evaluators.networks.model import Model

HERE = Path(__file__).resolve().parent
FOUR = "connect_four"
Seconds = Callable[[], float]


@dataclass
class Row:
    """One line of the table."""

    job: str
    figure: str
    beside: str
    ratio: str
    """The median ratio with the lowest and the highest."""
    goal: str


def cpu(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def wall(work: Callable[[], Any]) -> float:
    """Return the wall seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(repeats: int, *timers: Seconds) -> list[list[float]]:
    """Return the seconds of each timer, called in turn; the first round is not counted."""
    rounds = [[timer() for timer in timers] for _ in range(repeats + 1)][1:]
    return [list(times) for times in zip(*rounds, strict=True)]


def spread(above: list[float], below: list[float], scale: float = 1.0) -> str:
    """Return the median ratio and its range."""
    ratios = sorted(scale * a / b for a, b in zip(above, below, strict=True))
    return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"


def micro(times: list[float], calls: int = 1) -> str:
    """Return the median microseconds of a call."""
    return f"{statistics.median(times) / calls * 1e6:,.0f} us"


def rate(times: list[float], count: float, unit: str) -> str:
    """Return the median count a second."""
    return f"{count / statistics.median(times):,.0f} {unit}/s"


# Short searches.


def short(repeats: int) -> Iterable[Row]:
    """Measure one search, one move of self-play, and a game of self-play beside OpenSpiel."""
    calls = 200
    position = tt.position(FOUR)
    tt.Search(position, seed=0, tier="direct").prepare()
    one = [
        cpu(lambda: [tt.search(position, simulations=1, seed=seed, tier="direct") for seed in range(calls)])
        for _ in range(repeats + 1)
    ][1:]
    yield Row("tt.search, 1 simulation", micro(one, calls), "", "", "at most 250 us")

    def moves(seed: int) -> tuple[float, int]:
        search, made = tt.Search(position, seed=seed, tier="direct"), 0
        result = search.run(tt.Limit(simulations=64))
        start = time.process_time()
        while True:
            search.advance(result.action)
            if search.position.is_terminal:
                return time.process_time() - start, made
            result = search.run(tt.Limit(simulations=64))
            made += 1

    seen = [moves(seed) for seed in range(40 * repeats)][repeats:]
    each = [seconds / made for seconds, made in seen if made]
    yield Row("advance, run(64), .action", micro(each), "", "", "at most 200 us")
    if importlib.util.find_spec("pyspiel") is None:
        return
    import pyspiel

    spiel = pyspiel.load_game(FOUR)

    def ours() -> float:
        def play() -> None:
            for seed in range(5):
                search = tt.Search(position, tt.uct(c=1.4), seed=seed, tier="direct")
                while not search.position.is_terminal:
                    search.advance(search.run(tt.Limit(simulations=64)).action)
                    counted[0] += 1

        return cpu(play)

    def theirs() -> float:
        def play() -> None:
            for seed in range(5):
                evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
                bot = pyspiel.MCTSBot(spiel, evaluator, 1.4, 64, 1000, False, seed, False)
                state = spiel.new_initial_state()
                while not state.is_terminal():
                    state.apply_action(bot.step(state))
                    counted[1] += 1

        return cpu(play)

    counted = [0, 0]
    mine, other = interleaved(2 * repeats, ours, theirs)
    made = [count / (2 * repeats + 1) for count in counted]
    yield Row(
        "self-play at 64 simulations a move", rate(mine, made[0], "moves"),
        f"OpenSpiel C++ {rate(other, made[1], 'moves')}", spread(other, mine, made[0] / made[1]), "at least 3",
    )  # fmt: skip


# Many games at once.


class Mctx:
    """mctx in a process of its own, on some cores."""

    def __init__(self, cores: int) -> None:
        flags = "--xla_cpu_multi_thread_eigen=false" if cores == 1 else ""
        command = [sys.executable, str(HERE / "mctx_worker.py")]
        if cores == 1:
            command = ["taskset", "-c", "0", *command]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL,
            env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        )  # fmt: skip

    def __call__(self, games: int, simulations: int) -> tuple[float, float]:
        """Return the wall and the CPU seconds of one search of all games."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{games} {simulations}\n")
        self._process.stdin.flush()
        seconds, used = json.loads(self._process.stdout.readline())
        return seconds, used

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()


def pool(repeats: int) -> Iterable[Row]:
    """Measure a pool beside mctx, and on two threads beside one."""
    pools = {
        threads: tt.SearchPool(
            FOUR, tt.gumbel(), slots=256, evaluator=tt.evaluators.Uniform(), seed=1, threads=threads, tier="direct"
        )
        for threads in (1, 2)
    }

    def run(threads: int, simulations: int, clock: Callable[[Callable[[], Any]], float]) -> float:
        mine = pools[threads]
        mine.replace(range(256))

        def work() -> None:
            mine.run(simulations=simulations)
            _ = mine.results().actions

        return clock(work)

    if importlib.util.find_spec("mctx") is not None and importlib.util.find_spec("pgx") is not None:
        for cores, clock, place in ((1, cpu, 1), (2, wall, 0)):
            other = Mctx(cores)
            for simulations, goal, times in ((32, "at least 1.5", 5 * repeats), (800, "at least 20", repeats)):
                mine, theirs = interleaved(
                    times,
                    lambda s=simulations, t=cores, c=clock: run(t, s, c),
                    lambda s=simulations, p=place, o=other: o(256, s)[p],
                )
                count = 256 * simulations
                yield Row(
                    f"pool, 256 games x {simulations}, {cores} core{'s' * (cores > 1)}",
                    rate(mine, count, "simulations"), f"mctx {rate(theirs, count, 'simulations')}",
                    spread(theirs, mine), goal,
                )  # fmt: skip
            other.close()
    one, two = interleaved(5 * repeats, lambda: run(1, 800, wall), lambda: run(2, 800, wall))
    yield Row(
        "pool, 256 games x 800, two threads", rate(two, 256 * 800, "simulations"),
        f"one thread {rate(one, 256 * 800, 'simulations')}", spread(one, two), "at least 1.85",
    )  # fmt: skip


# Networks.


def network(repeats: int) -> Iterable[Row]:
    """Measure how much of a network's own throughput a search reaches, at the same size of batches."""
    if importlib.util.find_spec("onnxruntime") is None or importlib.util.find_spec("onnx") is None:
        return
    net = Model.untrained(tt.load_game(FOUR))
    rng = np.random.default_rng(1)

    def raw(size: int, count: int) -> Seconds:
        given = rng.random((size, 3, 6, 7)).astype(np.float32)
        return lambda: wall(lambda: [net.run(given) for _ in range(count // size)]) / (count // size * size)

    def single(size: int, count: int) -> Seconds:
        search = tt.Search(FOUR, tt.puct(batch_size=size), evaluator=net, seed=1, tier="direct")
        search.prepare()

        def timed() -> float:
            fresh = tt.Search(FOUR, tt.puct(batch_size=size), evaluator=net, seed=1, tier="direct")
            before = net.throughput.positions
            seconds = wall(lambda: fresh.run(tt.Limit(simulations=count)))
            return seconds / (net.throughput.positions - before)

        return timed

    def many(slots: int, count: int) -> Seconds:
        games = tt.SearchPool(FOUR, tt.puct(), slots=slots, evaluator=net, seed=1, tier="direct")
        games.run(simulations=2)

        def timed() -> float:
            games.replace(range(slots))
            before = net.throughput.positions
            seconds = wall(lambda: games.run(simulations=max(count // slots, 8)))
            return seconds / (net.throughput.positions - before)

        return timed

    for name, size, timer, goal in (
        ("search, batch 1", 1, single(1, 400), ""),
        ("search, batch 8", 8, single(8, 2000), "at least 0.75"),
        ("search, batch 32", 32, single(32, 4000), "at least 0.85"),
        ("search, batch 64", 64, single(64, 6000), ""),
        ("pool of 128 games, batch 64", 64, many(128, 6400), "at least 0.95"),
        ("pool of 512 games, batch 256", 256, many(512, 12800), "at least 0.95"),
    ):
        own, mine = interleaved(2 * repeats, raw(size, max(2000, 8 * size) if size > 1 else 400), timer)
        yield Row(
            f"network, {name}", f"{1 / statistics.median(mine):,.0f} positions/s",
            f"raw {1 / statistics.median(own):,.0f} positions/s", spread(own, mine), goal,
        )  # fmt: skip


# Rules.

RULES = {
    "Gumbel": ("tt.gumbel()", "at most 2"),
    "completed values, no root schedule": ("tt.SearchConfig(rule=tt.rules.Completed())", ""),
    "UCB1-Tuned": ("tt.rules.ucb1_tuned()", "at most 1.6"),
    "UCB-V": ("tt.rules.ucb_v()", "at most 1.6"),
    "full build": ("tt.uct(normalise=True)", "at most 1.6"),
    "PUCT with FPU": ("tt.puct(fpu='parent')", "at most 1.6"),
    "progressive history": ("tt.rules.progressive_history()", "at most 1.6"),
    "Thompson sampling": ("tt.rules.thompson()", "at most 1.6"),
}


def rules(repeats: int) -> Iterable[Row]:
    """Measure a simulation by other rules, relative to UCB1, with rollouts."""
    import warnings

    warnings.simplefilter("ignore")
    for game in (FOUR, "othello"):

        def timed(config: Any, name: str = game) -> float:
            search = tt.Search(name, config, seed=1, tier="direct")
            search.prepare()
            return cpu(lambda: search.run(tt.Limit(simulations=20_000)))

        for name, (text, goal) in RULES.items():
            config = eval(text, {"tt": tt})
            plain, other = interleaved(2 * repeats, lambda: timed(tt.uct()), lambda c=config: timed(c))
            yield Row(
                f"{game}, {name}", rate(other, 20_000, "simulations"), f"UCB1 {rate(plain, 20_000, 'simulations')}",
                spread(other, plain) + " times as long", goal,
            )  # fmt: skip


# Threads.


def threads(repeats: int) -> Iterable[Row]:
    """Measure two threads on one tree beside one."""
    for game, config, simulations, goal in (
        (FOUR, tt.uct(), 300_000, "at least 1.7"),
        ("othello", tt.uct(), 300_000, "at least 1.7"),
        ("breakthrough", tt.uct(), 100_000, ""),
        (FOUR, tt.uct(solver=True), 300_000, ""),
        ("othello", tt.rules.grave(), 100_000, ""),
    ):

        def timed(
            count: int, game: str = game, config: Any = config, simulations: int = simulations, **more: Any
        ) -> float:
            search = tt.Search(game, config, seed=1, tier="direct", threads=count, **more)
            search.prepare()
            return wall(lambda: search.run(tt.Limit(simulations=simulations)))

        one, two = interleaved(repeats, lambda t=timed: t(1), lambda t=timed: t(2))
        name = f"{game}, {config}"
        yield Row(
            f"one tree, two threads: {name}", rate(two, simulations, "simulations"),
            f"one thread {rate(one, simulations, 'simulations')}", spread(one, two), goal,
        )  # fmt: skip
        if not config.solver and config.rule.name == "ucb1":
            one, two, plain = interleaved(
                repeats,
                lambda t=timed: t(1, deterministic=True),
                lambda t=timed: t(2, deterministic=True),
                lambda t=timed: t(1),
            )
            yield Row(
                f"the same, deterministic: {name}", rate(two, simulations, "simulations"),
                f"one thread {rate(one, simulations, 'simulations')}",
                f"{spread(one, two)}; of a plain search {spread(plain, two)}", "",
            )  # fmt: skip


PARTS: dict[str, Callable[[int], Iterable[Row]]] = {
    "short": short, "pool": pool, "network": network, "rules": rules, "threads": threads
}  # fmt: skip
HEADINGS = ("job", "Treetop", "beside", "ratio", "goal")


def main() -> None:
    """Measure, print, and optionally write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts to measure")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all rows to a file")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    options = parser.parse_args()
    console, rows = Console(stderr=True, width=160), []
    for part in options.only:
        for row in PARTS[part](options.repeats):
            rows.append(row)
            console.print(
                " | ".join((row.job, row.figure, row.beside, row.ratio, row.goal)), style="dim", soft_wrap=True
            )
    lines = [[row.job, row.figure, row.beside, row.ratio, row.goal] for row in rows]
    if options.markdown:
        shown = [HEADINGS[:-1], ["---", *["---:"] * (len(HEADINGS) - 2)], *(line[:-1] for line in lines)]
        print("\n".join(f"| {' | '.join(line)} |" for line in shown))
    else:
        table = Table(*HEADINGS, box=None)
        for line in lines:
            table.add_row(*line)
        Console(width=160).print(table)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
