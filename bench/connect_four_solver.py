"""Measure the Connect Four solver: CPU seconds for the exact scores of all moves of random positions.

    python bench/connect_four_solver.py                 200 positions each with 12, 16 and 20 discs
    python bench/connect_four_solver.py --discs 8 --positions 50
    python bench/connect_four_solver.py --markdown      the table in Markdown

Every position is solved by a new solver with an empty table. The positions depend only on the seed, so two runs measure
the same work.
"""

from __future__ import annotations

import argparse
import statistics
import time

from rich.console import Console
from rich.progress import track
from rich.table import Table

import treetop as tt
from treetop.oracle.connect_four import ConnectFourSolver, fitting_table_bits

HEADINGS = ("discs", "positions", "median s", "mean s", "worst s", "nodes, mean", "nodes a second")


def random_position(rng: tt.Rng, discs: int) -> tt.Position:
    """Return the position after a number of random moves, from a game that is not over then."""
    while True:
        position = tt.position("connect_four")
        for _ in range(discs):
            actions = position.legal_actions()
            position = position.apply(actions[rng.below(len(actions))])
            if position.is_terminal:
                break
        if not position.is_terminal:
            return position


def measure(discs: int, positions: int, seed: int) -> tuple[str, ...]:
    """Return one row of the table."""
    rng, seconds, nodes = tt.Rng(seed), [], 0
    for _ in track(range(positions), f"{discs} discs", console=Console(stderr=True), transient=True):
        position = random_position(rng, discs)
        start = time.process_time()
        solver = ConnectFourSolver(fitting_table_bits(discs))
        solver.scores(position)
        seconds.append(time.process_time() - start)
        nodes += solver.nodes
    times = (statistics.median(seconds), statistics.mean(seconds), max(seconds))
    return (
        str(discs),
        str(positions),
        *(f"{value:.4f}" for value in times),
        f"{nodes // positions:,}",
        f"{nodes / sum(seconds):,.0f}",
    )


def main() -> None:
    """Read the options and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--discs", type=int, nargs="+", default=[12, 16, 20])
    options.add_argument("--positions", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--markdown", action="store_true")
    given = options.parse_args()
    ConnectFourSolver().prepare()
    rows = [measure(discs, given.positions, given.seed) for discs in given.discs]
    if given.markdown:
        for row in (HEADINGS, ["---:"] * len(HEADINGS), *rows):
            print("|", " | ".join(row), "|")
        return
    table = Table(*HEADINGS)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
