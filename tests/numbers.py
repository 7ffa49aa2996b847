"""Results with numbers that were worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import treetop as tt

_NAMES = (
    "numbers", "counts", "means", "priors", "deviations", "lower", "upper", "distances", "gumbel", "strategies",
    "vectors", "failed", "unopened", "playable",
)  # fmt: skip


def with_numbers(result: tt.SearchResult, **columns: Any) -> tt.SearchResult:
    """Return a result with other statistics of its actions."""
    root = {name: getattr(result, name) for name in _NAMES} | columns
    return replace(result, _root=SimpleNamespace(**root, counts_since=root["counts"]))
