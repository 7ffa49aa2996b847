"""Measure the returns of a search in small environments of Gymnasium and PettingZoo, with default settings.

    python bench/gymnasium.py                       all, some minutes
    python bench/gymnasium.py FrozenLake-v1 Taxi-v4 tictactoe
    python bench/gymnasium.py --simulations 50 --episodes 20 --rollouts FrozenLake-v1

It prints the mean return with its standard error, the best known return, and the time of a step. "by the table"
evaluates leaves by backward induction over the environment's table of transitions, which gives optimal choices;
--rollouts evaluates them by random actions instead, as in environments without a table. For games it prints the wins,
draws and losses against random moves.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

# This file has the name of the package, so its folder must not be on the import path.
sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != Path(__file__).resolve().parent]

import treetop as tt  # noqa: E402
from treetop.adapters import GymPolicy, GymProblem, PettingZooPolicy  # noqa: E402

EPISODES = {
    "FrozenLake-v1": 300,
    "FrozenLake8x8-v1": 100,
    "Taxi-v4": 50,
    "CliffWalking-v1": 5,
    "CartPole-v1": 5,
    "Blackjack-v1": 2000,
}
KNOWN = {
    "CartPole-v1": "500 at most, solved at 475",
    "Blackjack-v1": "about -0.045 by the optimal strategy without counting",
}
GAMES = {"tictactoe": 1000, "connect_four": 100}


def play(name: str, episodes: int, simulations: int | None, *, rollouts: bool) -> None:
    """Measure one environment."""
    import gymnasium

    env = gymnasium.make(name)
    env.reset(seed=0)
    by_table = hasattr(GymProblem(env), "evaluate") and not rollouts
    limit = None if simulations is None else tt.Limit(simulations=simulations)
    policy = GymPolicy(limit, seed=1, evaluator=tt.Rollout() if rollouts else None)
    returns, best, steps, started = [], [], 0, time.perf_counter()
    for episode in range(episodes):
        env.reset(seed=episode)
        if by_table:
            problem = GymProblem(env, horizon=200)
            best.append(problem.evaluate(problem.initial(), None)[1])
        total, over = 0.0, False
        while not over:
            _, reward, terminated, truncated, _ = env.step(policy(env))
            total, over, steps = total + float(reward), terminated or truncated, steps + 1
        returns.append(total)
    error = statistics.stdev(returns) / len(returns) ** 0.5 if len(returns) > 1 else 0.0
    known = f"{statistics.fmean(best):.3f} expected by the best policy" if best else KNOWN.get(name, "unknown")
    print(
        f"{name:18} {'by the table' if by_table else 'by rollouts':13} {policy.limit.simulations:>6} simulations, "
        f"{episodes} episodes: "
        f"mean {statistics.fmean(returns):.3f} +- {error:.3f}, worst {min(returns):g}; best known: {known}; "
        f"{1000 * (time.perf_counter() - started) / steps:.1f} ms a step",
        flush=True,
    )


def play_games(name: str, games: int, simulations: int) -> None:
    """Play a game of PettingZoo against random moves, alternating the seats."""
    module: Any = import_module(f"pettingzoo.classic.{name}.{name}")
    rng, counts, started = tt.Rng(1), {1.0: 0, 0.0: 0, -1.0: 0}, time.perf_counter()
    for game in range(games):
        env = module.env()
        env.reset(seed=game)
        seat, policy, received = (
            env.possible_agents[game % 2],
            PettingZooPolicy(tt.Limit(simulations=simulations), seed=game),
            0.0,
        )
        for agent in env.agent_iter():
            seen, reward, terminated, truncated, _ = env.last()
            received += reward if agent == seat else 0.0
            if terminated or truncated:
                env.step(None)
            elif agent == seat:
                env.step(policy(env))
            else:
                allowed = [action for action, may in enumerate(seen["action_mask"]) if may]
                env.step(allowed[rng.below(len(allowed))])
        counts[received] += 1
    print(
        f"{name:18} {simulations} simulations, {games} games against random moves: won {counts[1.0]}, "
        f"drawn {counts[0.0]}, lost {counts[-1.0]}; {time.perf_counter() - started:.0f} s",
        flush=True,
    )


def main() -> None:
    """Read the arguments and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[*EPISODES, *GAMES])
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--simulations", type=int)
    parser.add_argument("--rollouts", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name in GAMES:
            play_games(name, arguments.episodes or GAMES[name], arguments.simulations or 20)
        else:
            play(name, arguments.episodes or EPISODES.get(name, 10), arguments.simulations, rollouts=arguments.rollouts)


if __name__ == "__main__":
    main()
