"""A search recorded step by step: the first simulations with all their numbers, then the root at growing intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError
from treetop.game.position import Position
from treetop.kernels.parts import TREES
from treetop.search.explain import NodeFacts, Statistics, explain, finite
from treetop.search.limits import Limit
from treetop.search.search import Search
from treetop.show.trees import move_name, player_of, position_after
from treetop.show.views import root_info
from treetop.types import ROOT

_GROWTH = 1.15  # the ratio of the simulations of two snapshots
_MOST_ROWS = 64  # moves of a level whose scores are noted
_MOST_ROWS_ALL = 200_000  # rows of moves in an answer, about 100 bytes each; half of them for single simulations


class Recorder:
    """Records a new search. `step` records the next simulation or snapshot, `run` all of them.

    >>> import treetop as tt
    >>> found = Recorder(tt.Search("tic_tac_toe", seed=1), visits=200, detailed=20).run()
    >>> len(found["simulations"]), found["snapshots"][-1]["visits"]
    (20, 200)
    """

    def __init__(self, search: Search, *, visits: int, detailed: int) -> None:
        if search.begins_anew or search.config.root.schedules or search.simulations:
            raise ConfigError(
                "only a new search of one tree can be recorded: not with information sets or determinizations, nor "
                "with a planned root"
            )
        self._search, self._visits, self._detailed = search, visits, min(detailed, visits)
        self.simulations: list[dict[str, Any]] = []
        self.snapshots: list[dict[str, Any]] = []
        self._rows = 0

    def run(self) -> dict[str, Any]:
        """Record everything, and return it."""
        while self.step():
            pass
        return self.to_dict()

    def step(self, seconds: float | None = None) -> bool:
        """Record the next simulation, or search up to the next snapshot, for a while; return whether there is more.

        An answer has a bound: where games are long or have many moves, fewer simulations are recorded one by one.
        """
        search, before = self._search, self._search.simulations
        if len(self.simulations) < self._detailed and self._rows < _MOST_ROWS_ALL // 2:
            self._simulate()
        else:
            last = self.snapshots[-1]["visits"] if self.snapshots else 0
            wanted = self._visits if self._rows >= _MOST_ROWS_ALL else max(last + 1, int(last * _GROWTH))
            search.run(Limit(simulations=min(wanted, self._visits) - before, seconds=seconds))
            if before < search.simulations < min(wanted, self._visits) and not search.solved:
                return True
        self._snap()
        # A position with one move, or one whose moves are all proven, has nothing more to search.
        return before < search.simulations < self._visits and not search.solved

    def _simulate(self) -> None:
        """Run one simulation; note its path with the scores on it, and what came back."""
        search, tree = self._search, self._search.tree
        totals = tree.totals.copy() if search.simulations else np.zeros_like(tree.totals)
        old = tree.columns.stats[: tree.size].copy() if search.simulations else tree.columns.stats[:0].copy()
        search.run(Limit(simulations=1))
        levels, index, position = list[dict[str, Any]](), ROOT, search.position
        while (chosen := self._chosen(index, old)) is not None:
            action = int(tree.columns.links["action"][chosen])
            level = {"move": move_name(position, action), "player": player_of(position)}
            levels.append(level | self._statistics(chosen, old) | self._terms(index, position, old))
            index, position = chosen, position_after(position, action)
        self.simulations.append(
            {
                "path": [level["move"] for level in levels],
                "levels": levels,
                "new": index >= len(old) or int(old["visits"][index]) == 0,
                "value": float(tree.totals[search.player] - totals[search.player]),
                "values": (tree.totals - totals).tolist(),
            }
        )

    def _statistics(self, chosen: int, old: npt.NDArray[Any]) -> dict[str, Any]:
        """Return the visits and the sum of a node before and after the last simulation."""
        now = self._search.tree.columns.stats[chosen]
        then = old[chosen] if chosen < len(old) else np.zeros(1, old.dtype)[0]
        before, after = ([int(one["visits"]), float(one["value_sum"])] for one in (then, now))
        return {"before": before, "after": after}

    def _children(self, index: int) -> range:
        link = self._search.tree.columns.links[index]
        first = int(link["first_child"])
        return range(first, first + int(link["num_children"]))

    def _chosen(self, index: int, old: npt.NDArray[Any]) -> int | None:
        """Return the child of a node that the last simulation has visited."""
        visits = self._search.tree.columns.stats["visits"]
        for child in self._children(index):
            if int(visits[child]) != (int(old["visits"][child]) if child < len(old) else 0):
                return child
        return None

    def _terms(self, index: int, position: Position | None, old: npt.NDArray[Any]) -> dict[str, Any]:
        """Return the formula at a node and its numbers for each move, as they were before the last simulation."""
        search, children = self._search, self._children(index)
        if not search.config.rule.works_in(TREES) or not 0 < len(children) <= _MOST_ROWS:
            return {}
        moves = dict[str, Statistics]()
        for child in children:
            stats = old[child] if child < len(old) else np.zeros(1, old.dtype)[0]
            visits, prior = int(stats["visits"]), abs(float(search.tree.columns.stats["prior"][child]))
            name = move_name(position, int(search.tree.columns.links["action"][child]))
            moves[name] = Statistics(visits, float(stats["value_sum"]) / visits if visits else None, prior)
        visits = sum(one.visits for one in moves.values())
        mean = sum((one.value or 0.0) * one.visits for one in moves.values()) / max(1, visits)
        node = NodeFacts(mean, max(1, search.simulations - 1))
        found = explain(search.config, moves, facts=search.position.game.facts, node=node)
        rows = [
            [row.move, row.visits, row.value, finite(row.exploration), finite(row.score), moves[row.move].prior]
            for row in found.rows
        ]
        self._rows += len(rows)
        return {"rule": found.rule, "rows": rows}

    def _snap(self) -> None:
        result = self._search.result()
        rows = zip(result.counts.tolist(), result.clipped_means.tolist(), strict=True)
        self._rows += len(result.counts)
        self.snapshots.append(
            {
                "visits": result.root_visits,
                "move": result.move,
                "value": result.value,
                "moves": [[result.name_of(index), count, finite(mean)] for index, (count, mean) in enumerate(rows)],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the simulations, the snapshots, and where the best move changes."""
        moves = [snapshot["move"] for snapshot in self.snapshots]
        return {
            "simulations": self.simulations,
            "snapshots": self.snapshots,
            "changes": [number for number in range(1, len(moves)) if moves[number] != moves[number - 1]],
            "config": str(self._search.config),
            "seed": self._search.seed,
            "root": root_info(self._search.result()),
        }
