"""Search random games with cycles and transpositions, and compare moves, values and bounds with the exact ones.

`python fuzz/cyclic_games.py --games 10000`
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import treetop as tt
from tests.sketch import find_mistake, goes_round, random_maze


def main() -> int:
    """Print one line for each kind of search, and every game that was played wrong."""
    parser = argparse.ArgumentParser(description="Random games with cycles against exact values.")
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--simulations", type=int, default=20_000)
    options = parser.parse_args()
    wrong = 0
    for solver in (False, True):
        mistakes = slow = cyclic = 0
        for seed in range(options.first, options.first + options.games):
            maze = random_maze(seed)
            config = tt.uct(transpositions=True, solver=solver, repetition=maze.endless)
            search = tt.Search(
                maze.position(), config, evaluator=(tt.evaluators.Uniform(), tt.Rollout())[seed % 2], seed=seed
            )
            mistake = find_mistake(maze, search, options.simulations)
            if mistake and not solver:  # without a proof, an estimate may need more simulations
                mistake = find_mistake(maze, search, 25 * options.simulations)
                slow += mistake is None
            cyclic += goes_round(search)
            if mistake:
                mistakes += 1
                print(f"  random_maze({seed}): {mistake}", flush=True)
        print(
            f"solver={solver}: {options.games:,} games, {cyclic:,} with a repetition, {slow} needed longer, "
            f"{mistakes} mistakes",
            flush=True,
        )
        wrong += mistakes
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
