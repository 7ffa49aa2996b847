"""Measure searches over Python objects: against OpenSpiel's Python search, and with slow evaluations in flight.

    python bench/host.py                  both tables, about a minute
    python bench/host.py --quick          fewer repeats
    python bench/host.py --json out.json

The first part searches Connect Four from its start with UCB1 and one random rollout a simulation, over the same state
objects of pyspiel, in CPU time, interleaved in one process; the ratio is the median over the repeats. OpenSpiel is
optional (pip install -e ".[openspiel]"). The second part measures wall time with an evaluator that sleeps 50 ms,
with one evaluation and with 32 evaluations in flight.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

import treetop as tt

EXPLORATION = 2.0  # for rewards from -1 to 1


class SpielProblem:
    """A sequential game of OpenSpiel, over its state objects."""

    def __init__(self, game: Any) -> None:
        self.game, self.num_players = game, game.num_players()
        self.reward_range = (game.min_utility(), game.max_utility())

    def initial(self) -> Any:
        return self.game.new_initial_state()

    def player(self, state: Any) -> int:
        return state.current_player()

    def actions(self, state: Any) -> list[int]:
        return state.legal_actions()

    def step(self, state: Any, action: int) -> Any:
        state.apply_action(action)
        return state

    def copy(self, state: Any) -> Any:
        return state.clone()

    def is_terminal(self, state: Any) -> bool:
        return state.is_terminal()

    def rewards(self, state: Any) -> list[float]:
        return state.returns()


class Line:
    """An endless problem with four actions."""

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> tuple[int, int, int, int]:  # noqa: ARG002
        return (-2, -1, 1, 2)

    def step(self, state: int, action: int) -> int:
        return state * 5 + action

    def is_terminal(self, state: int) -> bool:  # noqa: ARG002
        return False

    def rewards(self, state: int) -> float:  # noqa: ARG002
        return 0.0


def against_openspiel(simulations: int, repeats: int) -> dict[str, Any] | None:
    """Return the speeds of both searches, in CPU time, and their ratio."""
    try:
        import numpy as np
        import pyspiel
        from open_spiel.python.algorithms import mcts
    except ImportError:
        return None
    game = pyspiel.load_game("connect_four")
    ours: list[float] = []
    theirs: list[float] = []
    tt.Search(SpielProblem(game), tt.uct(c=EXPLORATION)).prepare()
    for seed in range(repeats):
        start = time.process_time()
        tt.Search(SpielProblem(game), tt.uct(c=EXPLORATION), seed=seed).run(tt.Limit(simulations=simulations))
        ours.append(time.process_time() - start)
        random = np.random.RandomState(seed)
        bot = mcts.MCTSBot(
            game, EXPLORATION, simulations, mcts.RandomRolloutEvaluator(1, random), solve=False, random_state=random
        )
        start = time.process_time()
        bot.mcts_search(game.new_initial_state())
        theirs.append(time.process_time() - start)
    ratios = [their / our for our, their in zip(ours, theirs, strict=True)]
    return {
        "simulations": simulations,
        "ours": simulations / statistics.median(ours),
        "openspiel": simulations / statistics.median(theirs),
        "ratio": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
    }


async def slow(state: int, actions: tuple[int, ...]) -> tuple[None, float]:  # noqa: ARG001
    """Evaluate a state in 50 ms."""
    await asyncio.sleep(0.05)
    return None, 0.001 * (state % 7)


def in_flight(calls: int) -> dict[str, float]:
    """Return the evaluations a second with one and with 32 in flight."""
    rates = {}
    for width, count in ((1, max(20, calls // 32)), (32, calls)):
        search = tt.Search(Line(), tt.puct(c=1.5), evaluator=slow, seed=1)
        search.prepare()
        result = search.run_remote(tt.Limit(calls=count), in_flight=width)
        rates[str(width)] = result.calls / result.elapsed
    return {"one at a time": rates["1"], "32 in flight": rates["32"], "ratio": rates["32"] / rates["1"]}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    spiel = against_openspiel(500 if options.quick else 1000, 3 if options.quick else 9)
    if spiel is None:
        print("OpenSpiel is not installed: the first part is skipped")
    else:
        print(
            f"Connect Four over pyspiel states, {spiel['simulations']:,} simulations: {spiel['ours']:,.0f} a second, "
            f"OpenSpiel's Python {spiel['openspiel']:,.0f}: {spiel['ratio']:.2f} times "
            f"(from {spiel['lowest']:.2f} to {spiel['highest']:.2f})"
        )
    flight = in_flight(640 if options.quick else 1920)
    print(
        f"50 ms evaluations: {flight['one at a time']:.1f} a second one at a time, "
        f"{flight['32 in flight']:.1f} with 32 in flight: {flight['ratio']:.1f} times"
    )
    if options.json:
        options.json.write_text(json.dumps({"openspiel": spiel, "in_flight": flight}, indent=1))


if __name__ == "__main__":
    main()
