"""Basins: one theorem searched with many seeds, how often it is proved, and how often by the same proof."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from treetop.errors import ConfigError
from treetop.lab.runs import Run
from treetop.stats import Interval, format_number, share_interval
from treetop.text import text_facts, text_table


@dataclass(frozen=True)
class Basins:
    """The outcomes of the searches for a proof of one theorem under one policy.

    >>> import treetop as tt
    >>> runs = [tt.lab.Run("swap", "ucb1", seed, "proved", structure=found) for seed, found in enumerate("aab")]
    >>> basins = tt.lab.basins_of(runs)
    >>> basins.solved, basins.distinct, basins.dominant, round(basins.dominant_share, 2)
    (3, 2, 'a', 0.67)
    """

    theorem: str
    policy: str
    runs: int
    """One for each seed, including those that failed."""
    failed: int
    """Runs that raised an error or died. They count as not solved."""
    structures: tuple[tuple[str, int], ...]
    """The structures of the proofs and how many runs ended with each, the most frequent first."""
    mean_size: float | None
    """The mean number of tactics of a proof; None if there is none."""

    @property
    def solved(self) -> int:
        """How many runs found a proof."""
        return sum(count for _, count in self.structures)

    @property
    def solve_rate(self) -> Interval:
        """The share of the runs that found a proof, with its 95% Wilson interval."""
        return share_interval(self.solved, self.runs)

    @property
    def distinct(self) -> int:
        """How many different structures were found."""
        return len(self.structures)

    @property
    def dominant(self) -> str:
        """The most frequent structure; empty if nothing was proved."""
        return self.structures[0][0] if self.structures else ""

    @property
    def dominant_share(self) -> float | None:
        """The share of the proofs that have the most frequent structure; None if there is none."""
        return self.structures[0][1] / self.solved if self.structures else None

    @property
    def entropy(self) -> float | None:
        """The entropy of the structures among the proofs, in bits: 0 if all are the same, 1 if two are equally
        frequent; None if nothing was proved.
        """
        if not self.structures:
            return None
        shares = [count / self.solved for _, count in self.structures]
        return max(0.0, -math.fsum(share * math.log2(share) for share in shares))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "theorem": self.theorem,
            "policy": self.policy,
            "runs": self.runs,
            "solved": self.solved,
            "failed": self.failed,
            "solve_rate": self.solve_rate.to_dict(),
            "distinct": self.distinct,
            "dominant": self.dominant,
            "dominant_share": self.dominant_share,
            "entropy": self.entropy,
            "mean_size": self.mean_size,
            "structures": dict(self.structures),
        }


@dataclass(frozen=True)
class BasinTable:
    """The basins of several theorems, under one policy or several.

    >>> import treetop as tt
    >>> runs = [tt.lab.Run("swap", policy, 1, "proved", structure="a") for policy in ("ucb1", "blind")]
    >>> table = tt.lab.basin_table(runs)
    >>> table.policies, len(table.of("ucb1"))
    (('ucb1', 'blind'), 1)
    """

    basins: tuple[Basins, ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, in the order of first appearance."""
        return tuple(dict.fromkeys(one.policy for one in self.basins))

    def of(self, policy: str) -> tuple[Basins, ...]:
        """Return the basins under one policy."""
        return tuple(one for one in self.basins if one.policy == policy)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"basins": [one.to_dict() for one in self.basins]}

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings, and a row for each theorem and policy."""
        several = len(self.policies) > 1
        head = [
            "theorem",
            *(["policy"] if several else []),
            "seeds",
            "solved",
            "95% interval",
            "structures",
            "dominant",
            "entropy",
            "size",
        ]
        rows = []
        for one in self.basins:
            rate = one.solve_rate
            rows.append(
                [
                    one.theorem,
                    *([one.policy] if several else []),
                    f"{one.runs:,}",
                    f"{rate.value:.0%}",
                    f"{rate.low:.0%} to {rate.high:.0%}",
                    f"{one.distinct:,}",
                    _format(one.dominant_share, ".0%"),
                    _format(one.entropy, ".2f"),
                    "-" if one.mean_size is None else format_number(one.mean_size),
                ]
            )
        return head, rows

    def facts(self) -> dict[str, str]:
        """Return a summary line for each policy."""
        facts = {}
        for policy in self.policies:
            basins = self.of(policy)
            solved = [one for one in basins if one.solved]
            always, rate = (
                sum(one.solved == one.runs for one in basins),
                statistics.fmean(one.solve_rate.value for one in basins),
            )
            text = f"{len(solved):,} of {len(basins):,} theorems proved at least once, {always:,} always; "
            text += f"mean solve rate {rate:.1%}"
            if solved:
                text += (f"; where proved: {statistics.fmean(one.distinct for one in solved):.3g} structures, dominant "
                         f"{statistics.fmean(one.dominant_share or 0.0 for one in solved):.0%}, "
                         f"entropy {statistics.fmean(one.entropy or 0.0 for one in solved):.2f} bits")  # fmt: skip
            facts[policy] = text
        failed = sum(one.failed for one in self.basins)
        if failed:
            facts["failed"] = f"runs that failed, counted as not solved: {failed:,}"
        return facts

    def __str__(self) -> str:
        return f"{text_table(*self.rows())}\n\n{text_facts(self.facts())}"


def basins_of(runs: Iterable[Run]) -> Basins:
    """Return the basins of one theorem under one policy, from its runs with different seeds.

    >>> import treetop as tt
    >>> runs = [tt.lab.Run("swap", "ucb1", 1, "proved", structure="a"), tt.lab.Run("swap", "ucb1", 2, "open")]
    >>> basins_of(runs).solve_rate.value
    0.5
    """
    found = list(runs)
    if not found:
        raise ConfigError("basins need at least one run")
    others = sorted({f"{run.theorem} under {run.policy}" for run in found})
    if len(others) > 1:
        raise ConfigError(f"basins need the runs of one theorem under one policy, not of {', '.join(others)}")
    seeds = Counter(run.seed for run in found)
    twice = [seed for seed, count in seeds.items() if count > 1]
    if twice:
        raise ConfigError(f"{others[0]} was run twice with seed {twice[0]}")
    proved = [run for run in found if run.proved]
    counts = Counter(run.structure for run in proved)
    return Basins(
        found[0].theorem,
        found[0].policy,
        len(found),
        sum(run.status == "failed" for run in found),
        tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))),
        statistics.fmean(run.size for run in proved) if proved else None,
    )


def basin_table(runs: Iterable[Run]) -> BasinTable:
    """Return the basins of all theorems and policies of these runs, in the order of first appearance.

    >>> import treetop as tt
    >>> runs = [tt.lab.Run(theorem, "ucb1", 1, "open") for theorem in ("swap", "distribute")]
    >>> [basins.theorem for basins in basin_table(runs).basins]
    ['swap', 'distribute']
    """
    grouped: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        grouped.setdefault((run.theorem, run.policy), []).append(run)
    return BasinTable(tuple(basins_of(group) for group in grouped.values()))


def _format(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
