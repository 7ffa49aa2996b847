"""Measure the compiled loop alone against a hand-written C search: a reserved tree, no page faults, no results.

    python bench/kernel.py                        Connect Four at 10,000, 100,000 and 1,000,000 simulations
    python bench/kernel.py --repeats 15 --json out.json

Both keep their memory from run to run. A pair is one run of each with the same number of simulations, in CPU time; the
ratio is the median over the pairs, with its quartiles.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import treetop as tt

sys.path.insert(0, str(Path(__file__).parent))
from speed import C_SOURCE, EXPLORATION, Timer, c_timer

SIZES = (10_000, 100_000, 1_000_000)


def kernel_timer(largest: int) -> Timer:
    """Return a timer of the compiled loop on one tree that is cleared before each run."""
    search = tt.Search("connect_four", tt.uct(c=EXPLORATION), seed=1, tier="direct")
    driver = search._driver
    search.tree.reserve(8 * largest)
    search.prepare()

    def run(simulations: int, seed: int) -> float:
        search.tree.clear()
        driver.control["rng"] = tt.Rng(seed).word
        start = time.process_time()
        driver.run(simulations)
        return time.process_time() - start

    return run


def main() -> None:
    """Measure, print, and optionally write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15, help="pairs of runs at each size (15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all times to a file")
    parser.add_argument("--c-source", type=Path, default=C_SOURCE, metavar="FILE", help="the C reference as a library")
    options = parser.parse_args()
    own, reference = kernel_timer(max(SIZES)), c_timer(options.c_source, "c4_soa", max(SIZES))
    found: dict[int, dict[str, list[float]]] = {}
    for size in SIZES:
        for timer in (own, reference):
            if timer is not None:
                timer(size, 0)  # not measured: it touches the memory
        times: dict[str, list[float]] = {"treetop": [], "c": []}
        for repeat in range(options.repeats * (10 if size < 100_000 else 1)):
            times["treetop"].append(own(size, repeat + 1))
            if reference is not None:
                times["c"].append(reference(size, repeat + 1))
        found[size] = times
        rate = size / statistics.median(times["treetop"])
        line = f"{size:>9,} simulations: {rate:>10,.0f} a second"
        if times["c"]:
            low, middle, high = statistics.quantiles(
                [other / mine for mine, other in zip(times["treetop"], times["c"], strict=True)], n=4
            )
            line += f", {middle:.2f} of C ({low:.2f} to {high:.2f})"
        print(line, flush=True)
    if options.json:
        options.json.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
