"""Measure the cost of each option: the time of a simulation relative to the plain search, in one run.

    python bench/options.py                       a table, a minute or two
    python bench/options.py --games othello --simulations 100000
    python bench/options.py --json out.json
    python bench/options.py --before ../checkout  the plain search of another checkout, in alternating processes

All times are CPU times of interleaved runs; the ratios are medians over the repeats.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
OPTIONS: dict[str, str] = {
    "solver": "tt.uct(solver=True)",
    "RAVE": "tt.rave()",
    "GRAVE": "tt.rules.grave()",
    "transpositions": "tt.uct(transpositions=True)",
    "UCB1-Tuned": "tt.rules.ucb1_tuned()",
    "full build": "tt.uct(normalise=True)",
}
ONE_PROCESS = """
import sys, time
import treetop as tt
game, simulations, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def run(seed):
    search = tt.Search(game, tt.uct(c=1.4), seed=seed)
    search.prepare()
    start = time.process_time()
    search.run(tt.Limit(simulations=simulations))
    return time.process_time() - start
run(0)
times = sorted(run(seed) for seed in range(1, repeats + 1))
print(times[len(times) // 2])
"""


def timed(game: str, config: Any, simulations: int, seed: int) -> float:
    """Return the CPU seconds a simulation of one search, including its result."""
    import treetop as tt

    search = tt.Search(game, config, seed=seed)
    search.prepare()
    start = time.process_time()
    result = search.run(tt.Limit(simulations=simulations))
    return (time.process_time() - start) / max(result.simulations, 1)


def compare(game: str, simulations: int, repeats: int) -> dict[str, float]:
    """Return the time of a simulation with each option, relative to the plain search."""
    import treetop as tt

    configs = {name: eval(text, {"tt": tt}) for name, text in OPTIONS.items()}
    ratios: dict[str, list[float]] = {name: [] for name in configs}
    for config in configs.values():
        timed(game, config, 100, 0)
    for seed in range(1, repeats + 1):
        for name, config in configs.items():
            before = timed(game, tt.uct(), simulations, seed)
            ratio = timed(game, config, simulations, seed) / before
            ratios[name].append(ratio)
    return {name: statistics.median(values) for name, values in ratios.items()}


def against(checkout: Path, game: str, simulations: int, pairs: int) -> list[float]:
    """Return the ratios of this checkout's time to the other's, for each pair of processes."""
    ratios = []
    for index in range(pairs):
        order = (HERE, checkout) if index % 2 == 0 else (checkout, HERE)
        times = {folder: _run_process(folder, game, simulations) for folder in order}
        ratios.append(times[HERE] / times[checkout])
    return ratios


def _run_process(folder: Path, game: str, simulations: int) -> float:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", ONE_PROCESS, game, str(simulations), "9"]
    return float(
        subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True).stdout
    )


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=["connect_four", "othello", "hex(size=11)"])
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {}
    if options.before:
        for game in options.games[:1]:
            ratios = against(options.before.resolve(), game, options.simulations, options.pairs)
            found[game] = ratios
            print(
                f"{game}, {options.simulations:,} simulations: {statistics.median(ratios):.3f} of the other checkout's "
                f"time (median of {len(ratios)} pairs, {min(ratios):.3f} to {max(ratios):.3f})"
            )
    else:
        print("| game | " + " | ".join(OPTIONS) + " |\n|---|" + "---|" * len(OPTIONS))
        for game in options.games:
            found[game] = compare(game, options.simulations, options.repeats)
            print(f"| {game} | " + " | ".join(f"{ratio - 1:+.0%}" for ratio in found[game].values()) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
