"""Which parts of the search loop are compiled in.

There is one source of the loop. What a search does not need is left out of its machine code when the loop is made, so a plain search
pays nothing for the options that it does not use; and there are few builds, so that a game is compiled seldom. Within a build all
choices are data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treetop.compiler.functions import CompiledFunction


@dataclass(frozen=True)
class Build:
    """A set of parts. Two equal builds are the same machine code."""

    name: str
    solver: bool = False
    """Proofs: bounds, and children that are closed."""
    amaf: bool = False
    """Statistics of all moves as first."""
    graph: bool = False
    """A position reached by several ways is one node."""
    rich: bool = False
    """Every rule of selection, backup, evaluation and the root."""
    general: bool = False
    """Chance, rewards on the way, and players who gang up."""
    rule: CompiledFunction[..., Any] | None = None
    """A selection rule of the caller's own."""


PLAIN = Build("plain")
SOLVER = Build("solver", solver=True)
AMAF = Build("amaf", solver=True, amaf=True)
GRAPH = Build("graph", solver=True, graph=True)
RICH = Build("rich", solver=True, amaf=True, rich=True)
GENERAL = Build("general", solver=True, general=True)
GENERAL_RICH = Build("general and rich", solver=True, amaf=True, rich=True, general=True)
