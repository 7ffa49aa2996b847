"""Backups: one file each. A new one is a file, and a line here."""

from __future__ import annotations

from treetop.kernels.backups.backup import Backup as Backup
from treetop.kernels.backups.implicit import Implicit as Implicit
from treetop.kernels.backups.mean import Mean as Mean
from treetop.kernels.backups.minimax import Max as Max
from treetop.kernels.backups.minimax import MixedBackup as MixedBackup
from treetop.kernels.parts import dispatch

BACKUPS: tuple[type[Backup], ...] = (Mean, MixedBackup, Max, Implicit)
MEAN = BACKUPS.index(Mean)

backed_up = dispatch("backup", [part.value for part in BACKUPS])
"""Return the value of a child for the mover: (control, tree, child, mover, mean)."""
leaf_vector = dispatch("backup", [part.at_leaf for part in BACKUPS])
node_vector = dispatch("backup", [part.at_node for part in BACKUPS])
