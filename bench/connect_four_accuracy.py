"""Measure how often a search plays a move that keeps the exact value, in Connect Four positions with wrong moves.

    python bench/connect_four_accuracy.py
    python bench/connect_four_accuracy.py --simulations 10000 --configs "uct()" "uct(solver=True)"

The positions, with 12 to 20 discs, were labelled by the exact solver: `python scripts/label_connect_four.py`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import treetop as tt
from treetop.cli.common import make_config

LABELS = Path(__file__).resolve().parents[1] / "tests" / "golden" / "connect_four_labels.txt"


def labelled() -> list[tuple[tt.Position, set[str]]]:
    """Return positions with the moves that keep their value."""
    lines = [line.split() for line in LABELS.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [(tt.position("connect_four", moves=" ".join(moves)), set(keeping)) for moves, _, keeping in lines]


def main() -> None:
    """Read the arguments, search, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--configs", nargs="+", default=["uct()", "uct(solver=True)"])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    positions = labelled()
    for simulations in options.simulations:
        for text in options.configs:
            config = make_config(text, None)
            start = time.process_time()
            right = proven = 0
            for position, keeping in positions:
                result = tt.search(position, config, simulations=simulations, seed=options.seed)
                right += result.move in keeping
                proven += result.solved
            spent = time.process_time() - start
            print(
                f"{text}, {simulations:,} simulations: {right} of {len(positions)} ({right / len(positions):.1%}) "
                f"keep the value; {proven} proven; {spent:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
