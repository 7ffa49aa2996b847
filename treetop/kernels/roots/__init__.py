"""Root rules: one file each. A new one is a file, and a line here."""

from __future__ import annotations

from treetop.kernels.roots.by_rule import ByRule as ByRule
from treetop.kernels.roots.gumbel import Gumbel as Gumbel
from treetop.kernels.roots.halving import Halving as Halving
from treetop.kernels.roots.root import Root as Root

ROOTS: tuple[type[Root], ...] = (ByRule, Gumbel, Halving)
