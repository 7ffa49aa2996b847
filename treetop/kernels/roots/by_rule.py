"""The selection rule chooses at the root as everywhere else."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.kernels.roots.root import Root


@dataclass(frozen=True, kw_only=True)
class ByRule(Root):
    """The selection rule chooses, as everywhere else.

    >>> import treetop as tt
    >>> tt.SearchConfig(root=tt.rules.ByRule()) == tt.uct()
    True
    """

    name = "rule"

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset()
