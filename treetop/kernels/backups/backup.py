"""What every backup has: how the value of a node follows from its simulations and its children.

All backups keep visits and sums, so the mean is always known. Those that are not a mean keep a vector for each node, a
value for each player, in the column `vectors`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from treetop.compiler.functions import CompiledFunction
from treetop.kernels.parts import Part


@dataclass(frozen=True, kw_only=True)
class Backup(Part):
    """How values go up the tree.

    >>> import treetop as tt
    >>> isinstance(tt.uct(backup="max").backup, tt.rules.Backup)
    True
    """

    slot = "backup"
    value: ClassVar[CompiledFunction[..., Any]]
    """Return the value of a child for the mover: (control, tree, child, mover, mean)."""
    at_leaf: ClassVar[CompiledFunction[..., Any] | None] = None
    """Return the value of an evaluated node for a player: (control, tree, work, node, player, step, fade, reward)."""
    at_node: ClassVar[CompiledFunction[..., Any] | None] = None
    """Return the value of a node for a player: (control, tree, node, player, chooser, value of the best child)."""

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset() if self.at_leaf is None else frozenset({"full"})

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        return frozenset() if self.at_leaf is None else frozenset({"vectors"})
