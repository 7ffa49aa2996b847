"""Compare the two tiers of compiled code: equal trees for every bundled game and build, and the ratio of their speeds.

    python bench/tiers.py                     all bundled games, every build that a game can have; then the speeds
    python bench/tiers.py --games othello     some games only
    python bench/tiers.py --speed             the speeds only

A pair is one search on each tier with the same seed, in CPU time; the ratio is the median over the pairs, with its
quartiles. Direct code is compiled for each game and build, so the first run takes long.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any

import numpy as np

import treetop as tt
from treetop.game.choices import first_choice
from treetop.game.registry import BUNDLED

BUILDS = {
    "ucb1": tt.uct(),
    "puct": tt.puct(),
    "solver": tt.uct(solver=True),
    "rave": tt.rave(),
    "ucb1_tuned": tt.rules.ucb1_tuned(),
    "full with solver": tt.rules.ucb1_tuned(solver=True),
    "gumbel": tt.gumbel(),
    "transpositions": tt.uct(transpositions=True),
    "expected chance": tt.uct(chance="expected"),
    "open loop": tt.uct(chance="open_loop"),
    "determinizations": tt.uct(information="determinizations"),
    "regret matching": tt.regret_matching(),
    "batches": tt.puct(batch_size=8),
}
"""Settings that need all builds of the loop between them."""


class Zero:
    """An evaluator in Python, for batches: values of 0 and equal priors."""

    def __init__(self, game: tt.Game) -> None:
        self._facts = game.facts

    def evaluate(self, batch: Any) -> tuple[Any, Any]:
        """Return logits and values of zero."""
        return np.zeros((len(batch), self._facts.num_actions)), np.zeros((len(batch), self._facts.players))


def search_on(tier: str, position: tt.Position, build: str, simulations: int) -> tt.Search:
    """Return a search after some simulations."""
    player = 0 if position.player == tt.SIMULTANEOUS else None
    evaluator = Zero(position.game) if build == "batches" else None
    search = tt.Search(position, BUILDS[build], evaluator=evaluator, seed=1, player=player, tier=tier)
    search.run(tt.Limit(simulations=simulations))
    return search


def same(one: tt.Search, other: tt.Search) -> bool:
    """Return whether all nodes of two searches are equal, bit for bit."""
    for left, right in zip(one._driver.trees, other._driver.trees, strict=True):
        if left.size != right.size or left.totals.tobytes() != right.totals.tobytes():
            return False
        for name in ("stats", "links"):
            mine, theirs = (getattr(tree.columns, name)[: left.size].tobytes() for tree in (left, right))
            if mine != theirs:
                return False
    return True


def compare(names: list[str], simulations: int) -> int:
    """Compare the trees of all games and builds; print a line for each game and return the number of differences."""
    wrong = 0
    for name in names:
        position, done, refused = first_choice(tt.load_game(name), 1), [], 0
        for build in BUILDS:
            try:
                pair = [search_on(tier, position, build, simulations) for tier in ("indirect", "direct")]
            except tt.TreetopError:  # these settings are not for this game
                refused += 1
                continue
            done.append(build)
            if not same(*pair):
                wrong += 1
                print(f"{name}: {build} differs")
        print(
            f"{name}: {len(done)} settings equal at every node ({', '.join(done)}); {refused} do not apply", flush=True
        )
    return wrong


def speeds(names: list[str], simulations: int, repeats: int) -> None:
    """Print the speed of the indirect tier relative to the direct one."""
    for name in names:
        position = first_choice(tt.load_game(name), 1)
        times: dict[str, list[float]] = {"indirect": [], "direct": []}
        for repeat in range(repeats + 1):
            for tier, found in times.items():
                search = tt.Search(position, seed=repeat, tier=tier)
                search.prepare()
                start = time.process_time()
                search.run(tt.Limit(simulations=simulations))
                if repeat:  # the first pair warms up
                    found.append(time.process_time() - start)
        low, middle, high = statistics.quantiles(
            [direct / indirect for indirect, direct in zip(times["indirect"], times["direct"], strict=True)], n=4
        )
        rate = simulations / statistics.median(times["indirect"])
        print(f"{name}: {rate:,.0f} simulations a second, {middle:.2f} of direct ({low:.2f} to {high:.2f})", flush=True)


def main() -> None:
    """Compare, then measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="*", help="names of games (all bundled ones)")
    parser.add_argument("--simulations", type=int, default=500, help="simulations of each compared search (500)")
    parser.add_argument("--repeats", type=int, default=15, help="pairs of searches that are timed (15)")
    parser.add_argument("--speed", action="store_true", help="measure only")
    options = parser.parse_args()
    wrong = 0 if options.speed else compare(options.games or sorted(BUNDLED), options.simulations)
    speeds(options.games or ["connect_four", "othello", "breakthrough"], 20_000, options.repeats)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
