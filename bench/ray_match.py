"""Measure workers on Ray: two against one on a match, and the overhead a unit beside that of local processes.

    python bench/ray_match.py                          a local instance of Ray, about two minutes on two cores
    python bench/ray_match.py --quick
    python bench/ray_match.py --on ray://10.0.0.1:10001

Needs pip install -e ".[ray]". The match is between equal searches of Othello; a game takes a second or more. One worker
and two play the same games in turns, after all are set up and have played one; the ratio is the median over the rounds.
The same match in this process and in two processes shows what the machine allows at that time. The overhead is the wall
time of units that do nothing, for each worker: one after the other, with no unit held ahead.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

from treetop.arena.playing import MAKE_PLAYER, SETUP, GameTask
from treetop.game.registry import load_game
from treetop.workers.pool import Pool
from treetop.workers.units import Unit

GAME = "othello"


def play(pool: Pool, spec: str, games: range) -> float:
    """Play games in a pool, and return the seconds that they took."""
    start = time.perf_counter()
    for outcome in pool.run(Unit(f"game {index}", (GameTask(index, (), (spec, spec), 1),)) for index in games):
        if not outcome.ok:
            raise SystemExit(f"{outcome.unit.id}: {outcome.reason}")
    return time.perf_counter() - start


def ready_pool(setup: Any, arguments: tuple[Any, ...], workers: int, on: str | None) -> Pool:
    """Return a pool whose workers are set up."""
    pool = Pool(setup, arguments, workers=workers, on=on)
    pool.set_up(*arguments)
    pool.wait_until_ready()
    return pool


def speedup(on: str | None, simulations: int, games: int, rounds: int) -> dict[str, Any]:
    """Return the seconds of a match with one worker and with two, and their ratio."""
    spec = f"uct(simulations={simulations})"
    arguments = (GAME, MAKE_PLAYER, None, (spec,), load_game(GAME).digest)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for workers in seconds:
            with ready_pool(SETUP, arguments, workers, on) as pool:
                play(pool, spec, range(1000, 1000 + 2 * workers))  # so that all compiled code is loaded
                seconds[workers].append(play(pool, spec, range(games)))
    return {
        "games": games,
        "simulations": simulations,
        "a game": statistics.median(seconds[1]) / games,
        "one": statistics.median(seconds[1]),
        "two": statistics.median(seconds[2]),
        "ratio": statistics.median(one / two for one, two in zip(seconds[1], seconds[2], strict=True)),
    }


def overhead(on: str | None, units: int, rounds: int) -> float:
    """Return the milliseconds of a unit that does nothing, in each of two workers."""
    found = []
    with ready_pool("functools:partial", (int,), 2, on) as pool:
        for number in range(rounds + 1):
            start = time.perf_counter()
            for _ in pool.run(Unit(f"{number} {unit}") for unit in range(units)):
                pass
            found.append((time.perf_counter() - start) * 2 / units * 1e3)
    return statistics.median(found[1:])


def main() -> None:
    """Measure, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", default="ray")
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--games", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="one round of few games and units")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    games, rounds, units = (4, 1, 200) if given.quick else (given.games, given.rounds, given.units)
    matches = {}
    for place in ("processes", given.on):
        match = matches[place] = speedup(place, given.simulations, games, rounds)
        print(
            f"{games} games of {GAME}, {place}: {match['a game']:.2f} s each; {match['one']:.1f} s with one worker, "
            f"{match['two']:.1f} s with two, ratio {match['ratio']:.2f}",
            flush=True,
        )
    costs = {place: overhead(place, units, rounds) for place in ("processes", given.on)}
    for place, cost in costs.items():
        print(f"overhead a unit, {place}: {cost:.2f} ms")
    if given.json:
        given.json.write_text(json.dumps({"matches": matches, "overhead": costs}, indent=1))


if __name__ == "__main__":
    main()
