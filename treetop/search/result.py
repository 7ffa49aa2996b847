"""What a search found: for a program in fields, for a person in print, for a notebook in HTML."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng, mix
from treetop.errors import ConfigError
from treetop.game.position import Position
from treetop.search.config import SearchConfig
from treetop.search.explain import Explanation, Statistics, explain
from treetop.search.report import Report, Usage, report_of
from treetop.search.tables import html_table, text_table
from treetop.tree.storage import Tree
from treetop.types import ROOT, FloatArray, IntArray

if TYPE_CHECKING:
    from treetop.search.search import Search

_ROWS_SHOWN = 12
_FINAL_SALT = 0x66696E616C  # the final move draws from numbers of its own, so that looking changes nothing


@dataclass(frozen=True)
class SearchResult:
    """A snapshot of the root. Later simulations do not change it."""

    position: Position
    config: SearchConfig
    seed: int
    actions: IntArray
    """The legal actions, in the game's order; the other arrays follow it."""
    counts: IntArray
    """Visits of each action."""
    means: FloatArray
    """Mean value of each action for the player to move; NaN where nobody was."""
    priors: FloatArray
    totals: FloatArray
    root_visits: int
    pv_actions: tuple[int, ...]
    tree: Tree = field(repr=False)
    """The tree itself, which goes on with its search."""
    usage: Usage
    """What the search had used up."""
    _search: Search = field(repr=False)

    @classmethod
    def of(cls, search: Search) -> SearchResult:
        """The result of a search, as it stands."""
        tree, position = search.tree, search.position
        columns = tree.columns
        link = columns.links[ROOT]
        first, count = int(link["first_child"]), int(link["num_children"])
        block = slice(first, first + count)
        if count:
            actions = columns.links["action"][block].copy()
            counts = columns.stats["visits"][block].copy()
            sums = columns.stats["value_sum"][block]
            priors = columns.stats["prior"][block].astype(np.float64)
        else:  # so few simulations that the root is still a leaf
            actions = np.array(position.legal_actions(), np.int32)
            counts, sums = np.zeros(len(actions), np.int32), np.zeros(len(actions))
            priors = np.full(len(actions), 1.0 / len(actions))
        means = np.divide(sums, counts, out=np.full(len(counts), math.nan), where=counts > 0)
        result = cls(position, search.config, search.seed, actions, counts, means, priors, tree.totals.copy(), tree.root_visits,
                     (), tree, Usage.of(search), search)
        return replace(result, pv_actions=_principal_variation(tree, result.action))

    @property
    def action(self) -> int:
        """The action to play, by the final rule of the search."""
        return int(self.actions[self._choice()])

    @property
    def move(self) -> str:
        """The move to play, as people write it."""
        return self.position.move_text(self.action)

    @property
    def player(self) -> int:
        """The player to move."""
        return self.position.player

    @property
    def value(self) -> float:
        """The mean return to the player to move."""
        return float(self.totals[self.player]) / self.root_visits

    @property
    def values(self) -> list[float]:
        """The mean return to each player."""
        return [float(total) / self.root_visits for total in self.totals]

    @property
    def visits(self) -> dict[int, int]:
        """Visits of each legal action."""
        return {int(action): int(count) for action, count in zip(self.actions, self.counts, strict=True)}

    @property
    def pv(self) -> list[str]:
        """The principal variation: the most visited moves, one after the other."""
        names, position = [], self.position
        for action in self.pv_actions:
            names.append(position.move_text(action))
            position = position.apply(action)
        return names

    @property
    def simulations(self) -> int:
        """How many simulations the last run made."""
        return self.usage.simulations

    @property
    def elapsed(self) -> float:
        """Seconds that the last run took."""
        return self.usage.elapsed

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the last run."""
        return self.usage.interrupted

    def policy(self, temperature: float = 1.0) -> npt.NDArray[np.float64]:
        """Probabilities over all actions of the game, from the visits: 0 is greedy, 1 proportional, infinity uniform."""
        policy = np.zeros(self.position.game.facts.num_actions)
        policy[self.actions] = self._shares(temperature)
        return policy

    def _shares(self, temperature: float) -> FloatArray:
        if not temperature >= 0:
            raise ConfigError(f"temperature must be a number of at least 0, not {temperature!r}")
        tried = self.counts > 0
        if not tried.any():
            return np.full(len(self.counts), 1.0 / len(self.counts))
        if temperature == 0:
            best = self.counts == self.counts.max()
            return np.asarray(best / best.sum())
        # In log space: visits ** (1 / temperature) itself would overflow.
        logs = np.where(tried, np.log(np.maximum(self.counts, 1)) / temperature, -np.inf)
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def _choice(self) -> int:
        """The index of the move to play. The same however often it is asked."""
        rng = Rng(mix(self.seed ^ _FINAL_SALT) ^ self.root_visits)
        final = self.config.final
        if final == "temperature" and self.config.temperature > 0:
            drawn = int(np.searchsorted(np.cumsum(self._shares(self.config.temperature)), rng.random(), side="right"))
            return min(drawn, len(self.actions) - 1)  # the shares may add up to a little less than 1
        means = np.where(self.counts > 0, self.means, -np.inf)
        first, second = (means, self.counts) if final == "value" else (self.counts, means)
        best = np.flatnonzero(first == first.max())
        best = best[second[best] == second[best].max()]
        return int(best[rng.below(len(best))]) if len(best) > 1 else int(best[0])

    def explain(self) -> Explanation:
        """For each move its visits, value, prior, exploration term and score; and why the chosen one was chosen."""
        names = [self.position.move_text(int(action)) for action in self.actions]
        config = self.config
        if config.rule == "puct" and config.first_play is None:
            config = config.but(first_play=self.position.game.facts.middle)
        told = explain(config, {
            name: Statistics(int(self.counts[index]), None if not self.counts[index] else float(self.means[index]),
                             float(self.priors[index]) if config.rule == "puct" else None)
            for index, name in enumerate(names)
        })  # fmt: skip
        chosen = names[self._choice()]
        return replace(told, chosen=chosen, why=self._why(told, chosen))

    def _why(self, told: Explanation, chosen: str) -> str:
        row, others = told[chosen], [other for other in told.rows if other.move != chosen]
        if not others:
            return "it is the only legal move"
        if not any(one.visits for one in told.rows):
            return "a guess: no move has been tried yet"
        if self.config.final == "value":
            rival = max((other for other in others if other.value is not None), key=lambda other: other.value or 0.0, default=None)
            versus = f"; the next is {rival.move} with {rival.value:+.4f}" if rival else ""
            return f"it has the highest value, {row.value:+.4f}{versus}"
        if self.config.final == "temperature" and self.config.temperature > 0:
            share = float(self._shares(self.config.temperature)[self._choice()])
            return f"it was drawn, at temperature {self.config.temperature:g}, with a probability of {share:.1%}"
        rival = max(others, key=lambda other: other.visits)
        of = f"{row.visits:,} of {sum(one.visits for one in told.rows):,}, {row.share:.1%}"
        return f"it has the most visits ({of}; the next is {rival.move} with {rival.visits:,})"

    def report(self) -> Report:
        """All that is needed to run this again and to judge it."""
        return report_of(self._search, self.position, self.usage)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; the keys are the same in all commands' JSON."""
        told = self.explain()
        return {
            "game": self.position.game.name, "moves": self.position.moves(), "player": self.player, "action": self.action, "move": self.move,
            "value": self.value, "values": self.values, "visits": {row.move: row.visits for row in told.rows}, "pv": self.pv,
            "simulations": self.simulations, "elapsed": self.elapsed, "explain": told.to_dict(), "report": self.report().to_dict(),
        }  # fmt: skip

    def json(self) -> str:
        """The same as a JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def _lines(self, told: Explanation) -> list[str]:
        rate = self.simulations / self.elapsed if self.elapsed else 0.0
        speed = f" in {self.elapsed:.3g} s ({rate:,.0f} a second)" if rate else ""
        return [
            f"plays {told.chosen}: {told.why}",
            f"value {self.value:+.4f} for player {self.player}, who is to move; principal variation {' '.join(self.pv) or 'none yet'}",
            f"{self.simulations:,} simulations{speed}, {self.usage.nodes:,} nodes, {self.config}, seed {self.seed}"
            + (", interrupted" if self.interrupted else ""),
        ]

    def __str__(self) -> str:
        told = self.explain()
        head, cells = told.table(_ROWS_SHOWN)
        more = len(told.rows) - len(cells)
        table = text_table(head, cells) + (f"\n... and {more} more" if more else "")
        return "\n".join([str(self.position), "", table, "", *self._lines(told)])

    def _repr_html_(self) -> str:
        told = self.explain()
        board = escape(str(self.position))
        lines = "".join(f"<div>{escape(line)}</div>" for line in self._lines(told))
        return (f"<div style='display:flex;gap:2em;align-items:flex-start;flex-wrap:wrap'><pre style='line-height:1.3;font-size:1.15em;margin:0'>{board}</pre>"
                f"<div>{html_table(*told.table(_ROWS_SHOWN), told.chosen or '')}</div></div><div style='margin-top:.8em;line-height:1.5'>{lines}</div>")


def _principal_variation(tree: Tree, first_action: int) -> tuple[int, ...]:
    """The chosen action, and then the most visited ones; among equals the one of higher value."""
    columns = tree.columns
    visits, sums = columns.stats["visits"], columns.stats["value_sum"]
    first_child, num_children, actions = (columns.links[name] for name in ("first_child", "num_children", "action"))
    variation = [first_action]
    start = tree.root.child(first_action)
    node = None if start is None else start.index
    while node is not None and (count := int(num_children[node])) > 0:
        first = int(first_child[node])
        ranked = zip(visits[first : first + count].tolist(), sums[first : first + count].tolist(), range(first, first + count), strict=True)
        most, _, node = max(ranked, key=lambda child: child[:2])
        if not most:
            break
        variation.append(int(actions[node]))
    return tuple(variation)
