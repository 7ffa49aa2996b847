"""`treetop bench`: measure the search speed of games on this machine."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from treetop.cli.common import FAINT, GameNames, Json, Seed, counting, find_games, say, say_json, screen, table
from treetop.cli.warmup import prepare
from treetop.game.choices import first_choice
from treetop.game.definition import Game

Simulations = Annotated[int, typer.Option("--simulations", metavar="N", help="The simulations of each run.")]
Repeat = Annotated[
    int, typer.Option("--repeat", metavar="N", min=1, help="The runs of each game; the median is reported.")
]


@dataclass(frozen=True)
class _Row:
    """The measurements of one game."""

    game: str
    simulations: int
    rates: tuple[float, ...]
    """Simulations a second of CPU time, one a run."""
    nodes: int
    bytes_per_node: float
    first_use: float
    """Seconds until the compiled code was ready."""
    from_cache: bool

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    def to_dict(self) -> dict[str, Any]:
        spread = {"value": self.rate, "low": min(self.rates), "high": max(self.rates)}
        return {
            "game": self.game,
            "simulations": self.simulations,
            "simulations_per_second": spread,
            "rates": list(self.rates),
            "nodes": self.nodes,
            "bytes_per_node": self.bytes_per_node,
            "first_use": self.first_use,
            "from_cache": self.from_cache,
        }


def bench(
    games: GameNames = None,
    simulations: Simulations = 50_000,
    repeat: Repeat = 5,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Measure simulations a second, each with one random rollout, on one core.

    The unit is CPU time; the median of several runs is reported, and the games take turns. bench/speed.py in the
    repository compares with other libraries.
    """
    rows, machine = _measure(find_games(games), simulations, repeat, seed)
    if as_json:
        say_json({"machine": machine, "repeat": repeat, "seed": seed, "games": [row.to_dict() for row in rows]})
    elif screen().is_terminal:
        _draw(rows, machine)
    else:
        for row in rows:
            say(
                f"{row.game}: {row.rate:,.0f} simulations a second ({min(row.rates):,.0f} to {max(row.rates):,.0f}), "
                f"{row.nodes:,} nodes, {row.bytes_per_node:.0f} bytes a node, {_origin(row)} in {row.first_use:.2f} s"
            )


def _measure(found: list[Game], simulations: int, repeat: int, seed: int) -> tuple[list[_Row], str]:
    from treetop.search.limits import Limit
    from treetop.search.search import Search

    starts = [first_choice(game, seed) for game in found]
    ready: list[tuple[float, bool]] = []
    rates: list[list[float]] = [[] for _ in found]
    trees: list[tuple[int, float]] = [(0, 0.0)] * len(found)
    with counting("measuring", len(found) * (repeat + 1)) as count:
        for index, game in enumerate(found):
            count(index, f"{game.name}, first use")
            ready.append(prepare(game, tiers=("direct",), recommended=False))
        # The games take turns, so that a temporary slowdown of the machine affects all of them.
        for turn in range(repeat):
            for index, game in enumerate(found):
                count(len(found) * (turn + 1) + index, game.name)
                search = Search(starts[index], seed=seed + turn, tier="direct")
                start = time.process_time()
                result = search.run(Limit(simulations=simulations))
                if result.interrupted:
                    raise KeyboardInterrupt
                rates[index].append(result.simulations / max(time.process_time() - start, 1e-9))
                trees[index] = (search.tree.size, search.tree.nbytes / search.tree.size)
    rows = [
        _Row(game.name, simulations, tuple(rates[index]), *trees[index], *ready[index])
        for index, game in enumerate(found)
    ]
    return rows, result.report().machine


def _origin(row: _Row) -> str:
    return "from cache" if row.from_cache else "compiled"


def _draw(rows: list[_Row], machine: str) -> None:
    shown = table("game", "simulations/s", "spread", "nodes", "bytes/node", "first use")
    for row in rows:
        spread = (max(row.rates) - min(row.rates)) / row.rate
        shown.add_row(
            row.game,
            f"{row.rate:,.0f}",
            f"{spread:.0%}",
            f"{row.nodes:,}",
            f"{row.bytes_per_node:.0f}",
            f"{_origin(row)}, {row.first_use:.2f} s",
        )
    console = screen()
    console.print(shown)
    console.print(
        f"\n{rows[0].simulations:,} simulations a run, {len(rows[0].rates)} runs a game, "
        f"one random rollout a simulation, CPU time of one core. {machine}",
        style=FAINT,
    )
