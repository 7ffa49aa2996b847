"""Merge the roots of several searches of one position: visits and returns are added up, action by action.

Each search is a sample of its own, so the mean of an action over all searches is the mean of their means, weighted by
visits. Proven bounds hold in every search: the tightest ones are kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.search.proof import ProvenValue
from treetop.search.report import Usage
from treetop.search.root_block import GivenRoot
from treetop.search.variations import variation_of
from treetop.types import FloatArray

if TYPE_CHECKING:
    from treetop.search.result import SearchResult

_COLUMNS = (
    "numbers", "counts", "means", "priors", "deviations", "lower", "upper", "distances", "failed", "unopened",
    "strategies",
)  # fmt: skip
"""The columns of a result that are merged; `base`, `gumbel` and `vectors` are of searches that are not."""
_VARIATIONS = 20  # the most visited actions of each search whose variations are kept


@dataclass(frozen=True)
class Part:
    """The root of one of several searches: arrays and numbers that can be sent."""

    columns: dict[str, npt.NDArray[Any] | None]
    totals: FloatArray
    root_visits: int
    own_value: float
    scale: tuple[float, float] | None
    proof: ProvenValue | None
    usage: Usage
    variations: dict[int, tuple[int, ...]]
    """The principal variation after each of the most visited actions."""
    solution: tuple[int, ...] | None
    """The actions of the best complete solution, in games of one player."""

    @classmethod
    def of(cls, result: SearchResult) -> Part:
        """Return what is needed of a result."""
        order = np.argsort(-result.counts, kind="stable")[:_VARIATIONS]
        known = [] if result.tree.has_information_sets else [int(result.numbers[index]) for index in order]
        best = result.best
        return cls(
            {name: getattr(result, name) for name in _COLUMNS},
            result.totals,
            result.root_visits,
            result.own_value,
            result.scale,
            result.proof,
            result.usage,
            {number: variation_of(result, number) for number in known},
            None if best is None else tuple(int(action) for action in best.actions),
        )


@dataclass(frozen=True)
class Merged:
    """How a result was merged from several searches.

    >>> import treetop as tt
    >>> str(tt.results.Merged(2, (100, 100), seeds=(1, 6848101366376522)))
    'merged from 2 searches of 100 simulations each: visits are added up, values weighted by visits'
    """

    asked: int
    """How many searches were started."""
    simulations: tuple[int, ...]
    """The simulations of each search that was merged."""
    seeds: tuple[int, ...]
    """The seed of each: a search with it alone has the same root."""
    variations: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    """The variation after each action, from the search that visited it most."""
    solutions: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """The best complete solutions, in games of one player."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"searches": self.asked, "simulations": list(self.simulations), "seeds": list(self.seeds)}

    def __str__(self) -> str:
        done, few, many = len(self.simulations), min(self.simulations), max(self.simulations)
        count = f"{done:,} search{'es' * (done != 1)}" if done == self.asked else f"{done:,} of {self.asked:,} searches"
        each = f"{few:,} simulations each" if few == many else f"{few:,} to {many:,} simulations each"
        return f"merged from {count} of {each}: visits are added up, values weighted by visits"


def merge_roots(parts: Sequence[Part]) -> GivenRoot:
    """Return the statistics of all searches in one."""

    def all_of(name: str) -> npt.NDArray[Any] | None:
        """Return a column of every search, a row each; None where the searches do not keep it."""
        columns = [part.columns[name] for part in parts]
        return None if any(column is None for column in columns) else np.array(columns)

    counts, means, deviations = (all_of(name) for name in ("counts", "means", "deviations"))
    assert counts is not None
    assert means is not None
    assert deviations is not None
    total = counts.sum(axis=0, dtype=np.int64)

    def per_visit(values: npt.NDArray[Any]) -> FloatArray:
        sums = np.where(counts > 0, values * counts, 0.0).sum(axis=0)
        return np.asarray(np.divide(sums, total, out=np.full(len(total), math.nan), where=total > 0))

    mean = per_visit(means)
    priors, lower, upper, strategies = (all_of(name) for name in ("priors", "lower", "upper", "strategies"))
    failed, unopened = all_of("failed"), all_of("unopened")
    assert priors is not None
    assert failed is not None
    assert unopened is not None
    numbers = parts[0].columns["numbers"]
    assert numbers is not None
    return GivenRoot(
        numbers=numbers,
        counts=total,
        means=mean,
        priors=priors.mean(axis=0),
        deviations=np.sqrt(np.maximum(per_visit(deviations**2 + means**2) - mean**2, 0.0)),
        lower=None if lower is None else lower.max(axis=0),
        upper=None if upper is None else upper.min(axis=0),
        distances=_distances(all_of("distances"), lower, upper),
        failed=np.asarray(failed.any(axis=0)),
        unopened=np.asarray(unopened.all(axis=0)),
        strategies=None if strategies is None else strategies.sum(axis=0),
    )


def _distances(
    distances: npt.NDArray[Any] | None, lower: npt.NDArray[Any] | None, upper: npt.NDArray[Any] | None
) -> npt.NDArray[Any] | None:
    """Return the least distance of each action among the searches that have proven it; each is an upper bound."""
    if distances is None or lower is None or upper is None:
        return None
    proven, none = lower == upper, np.iinfo(np.int32).max
    least = np.where(proven, distances, none).min(axis=0)
    return np.where(proven.any(axis=0), least, 0).astype(np.int32)


def merge_numbers(parts: Sequence[Part]) -> dict[str, Any]:
    """Return what a `SearchResult` says of the root itself."""
    visits = np.array([part.root_visits for part in parts], np.float64)
    scales = [part.scale for part in parts if part.scale is not None]
    proofs = [part.proof for part in parts if part.proof is not None]
    return {
        "totals": np.sum([part.totals for part in parts], axis=0),
        "root_visits": sum(part.root_visits for part in parts),
        "own_value": float(np.average([part.own_value for part in parts], weights=visits)),
        "scale": (min(low for low, _ in scales), max(high for _, high in scales)) if scales else None,
        "proof": min(proofs, key=lambda proof: proof.at_most, default=None),
    }


def merge_usage(parts: Sequence[Part], asked: int, *, interrupted: bool) -> Usage:
    """Return what all searches together have used. They ran at the same time, so the longest one gives the time."""
    used = [part.usage for part in parts]
    reasons = list(dict.fromkeys(one.stopped for one in used))
    early = [one.stopped for one in used if one.stopped_early]
    return Usage(
        used[0].method,
        used[0].limit,
        sum(one.simulations for one in used),
        max(one.elapsed for one in used),
        "interrupted" if interrupted else reasons[0] if len(reasons) == 1 else early[0],
        sum(one.tree_simulations for one in used),
        tuple(size for one in used for size in one.sizes),
        asked,
    )


def merge_variations(parts: Sequence[Part]) -> dict[int, tuple[int, ...]]:
    """Return for each action the variation of the search that visited it most."""
    best: dict[int, tuple[int, tuple[int, ...]]] = {}
    for part in parts:
        numbers, counts = part.columns["numbers"], part.columns["counts"]
        assert numbers is not None
        assert counts is not None
        visits = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
        for number, variation in part.variations.items():
            if number not in best or visits[number] > best[number][0]:
                best[number] = visits[number], variation
    return {number: variation for number, (_, variation) in best.items()}
