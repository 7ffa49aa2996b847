"""Backups: one file each. A new one is a file, and a line here."""

from __future__ import annotations

from treetop.kernels.backups.backup import Backup
from treetop.kernels.backups.implicit import Implicit
from treetop.kernels.backups.mean import Mean
from treetop.kernels.backups.minimax import Max, MixedBackup
from treetop.kernels.parts import dispatch

__all__ = ["BACKUPS", "Backup", "backed_up", "leaf_vector", "node_vector"]

BACKUPS: tuple[type[Backup], ...] = (Mean, MixedBackup, Max, Implicit)

backed_up = dispatch("backup", [part.value for part in BACKUPS])
"""Return the value of a child for the mover: (control, tree, child, mover, mean)."""
leaf_vector = dispatch("backup", [part.at_leaf for part in BACKUPS])
node_vector = dispatch("backup", [part.at_node for part in BACKUPS])
