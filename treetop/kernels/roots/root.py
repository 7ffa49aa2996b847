"""What every root rule has: who is searched next at the root, where a schedule decides and not the selection rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from treetop.compiler.functions import CompiledFunction, inline_kernel
from treetop.kernels.control import BY_RULE
from treetop.kernels.parts import Part


@inline_kernel
def by_rule(control: Any, tree: Any, work: Any, in_flight: bool) -> int:
    """Leave the choice to the selection rule."""
    return BY_RULE


@dataclass(frozen=True, kw_only=True)
class Root(Part):
    """Who chooses at the root.

    >>> import treetop as tt
    >>> isinstance(tt.uct(root="halving").root, tt.rules.Root)
    True
    """

    slot = "root"
    choose: ClassVar[CompiledFunction[..., Any]] = by_rule
    """Return the child of the root to follow: (control, tree, work, in_flight); BY_RULE leaves it to the rule."""
    schedules: ClassVar[bool] = False
    """Whether it plans a known number of simulations."""

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset({"full"})
