"""Choose a policy on one half of the theorems and report it on the other half, so that the report is not biased by the
choice.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.lab.ratios import UNITS
from treetop.lab.runs import Run
from treetop.prove.digests import digest
from treetop.text import text_table


@dataclass(frozen=True)
class Halves:
    """A set of theorems in two halves, each sorted by name.

    >>> import treetop as tt
    >>> halves = tt.lab.split(["a", "b", "c"], seed=1)
    >>> len(halves.choosing), len(halves.reporting)
    (2, 1)
    """

    choosing: tuple[str, ...]
    """The half on which settings are tried. It is the larger one if the number of theorems is odd."""
    reporting: tuple[str, ...]
    """The half on which only the chosen policy is run."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"choosing": list(self.choosing), "reporting": list(self.reporting)}


def split(theorems: Collection[str], seed: int = 0) -> Halves:
    """Split a set in halves by a hash of the names and the seed. The order of the set does not matter.

    >>> split(["a", "b", "c", "d"]) == split(["d", "c", "b", "a"])
    True
    """
    checks.whole("seed", seed)
    if len(set(theorems)) != len(theorems):
        raise ConfigError("theorems must not be repeated")
    if len(theorems) < 2:
        raise ConfigError(f"two halves need at least two theorems, not {len(theorems)}")
    drawn = sorted(theorems, key=lambda name: (digest(str(seed), name), name))
    middle = (len(drawn) + 1) // 2
    return Halves(tuple(sorted(drawn[:middle])), tuple(sorted(drawn[middle:])))


@dataclass(frozen=True)
class Candidate:
    """The results of one policy on the choosing half."""

    policy: str
    runs: int
    solve_rate: float
    """The mean over theorems."""
    cost: float
    """The mean over theorems of log10 of the mean cost; a run without a proof costs what it spent."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"policy": self.policy, "runs": self.runs, "solve_rate": self.solve_rate, "log10_cost": self.cost}


@dataclass(frozen=True)
class Choice:
    """The policies on the choosing half, the best one first."""

    unit: str
    candidates: tuple[Candidate, ...]

    @property
    def policy(self) -> str:
        """The best policy."""
        return self.candidates[0].policy

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"policy": self.policy, "unit": self.unit, "candidates": [one.to_dict() for one in self.candidates]}

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings, and a row for each policy, the best one first."""
        rows = [
            [one.policy, f"{one.runs:,}", f"{one.solve_rate:.1%}", f"{10**one.cost:,.4g}"] for one in self.candidates
        ]
        return ["policy", "runs", "solved", f"{self.unit} (geometric mean)"], rows

    def __str__(self) -> str:
        return text_table(*self.rows())


def choose(runs: Mapping[str, Sequence[Run]], half: Collection[str], unit: str = "attempts") -> Choice:
    """Return the policies sorted by solve rate on these theorems, then by cost.

    All must have been run there with the same seeds.

    >>> import treetop as tt
    >>> agent = [tt.lab.Run("swap", "ucb1", 1, "proved", attempts=10, structure="a")]
    >>> blind = [tt.lab.Run("swap", "blind", 1, "proved", attempts=100, structure="a")]
    >>> choose({"blind": blind, "ucb1": agent}, ["swap"]).policy
    'ucb1'
    """
    checks.one_of("unit", unit, UNITS)
    if not runs or not half:
        raise ConfigError("there must be at least one policy and one theorem")
    wanted = set(half)
    there = {policy: [run for run in found if run.theorem in wanted] for policy, found in runs.items()}
    first, *others = there
    asked = _asked(there[first])
    if {theorem for theorem, _ in asked} != wanted:
        raise ConfigError(f"{first} was not run on {', '.join(sorted(wanted - {theorem for theorem, _ in asked}))}")
    for policy in others:
        if _asked(there[policy]) != asked:
            raise ConfigError(f"{policy} was not run on the same theorems with the same seeds as {first}")
    candidates = [_candidate(policy, found, unit) for policy, found in there.items()]
    return Choice(unit, tuple(sorted(candidates, key=lambda one: (-one.solve_rate, one.cost, one.policy))))


def _asked(runs: Sequence[Run]) -> list[tuple[str, int]]:
    return sorted((run.theorem, run.seed) for run in runs)


def _candidate(policy: str, runs: Sequence[Run], unit: str) -> Candidate:
    by_theorem: dict[str, list[Run]] = {}
    for run in runs:
        by_theorem.setdefault(run.theorem, []).append(run)
    rates = [statistics.fmean(run.proved for run in found) for found in by_theorem.values()]
    costs = [statistics.fmean(float(getattr(run, unit)) for run in found) for found in by_theorem.values()]
    # A theorem with cost 0 would make the geometric mean 0.
    spent = [math.log10(cost) for cost in costs if cost > 0]
    return Candidate(policy, len(runs), statistics.fmean(rates), statistics.fmean(spent) if spent else 0.0)
