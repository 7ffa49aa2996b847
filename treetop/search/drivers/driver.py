"""The base of drivers. A driver runs simulations on a tree; limits and results belong to the session."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from treetop.errors import ConfigError
from treetop.search.config import SearchConfig
from treetop.search.interrupts import Interrupts
from treetop.search.plan import Plan
from treetop.tree.layout import PROVEN
from treetop.tree.storage import Tree
from treetop.types import ROOT

if TYPE_CHECKING:
    from treetop.search.batch import Batch


class Driver:
    """The base of all drivers: trees of positions, information sets, determinizations and Python problems."""

    game: Any
    """The game; for a Python problem, an object with the same facts."""
    position: Any
    """The root: a `Position`; for a Python problem, an object with the same methods."""
    player: int
    """The player for whom the search is made: the player to move, or one of several who move simultaneously."""
    config: SearchConfig
    evaluator: Any
    seed: int
    plan: Plan
    tree: Tree
    control: npt.NDArray[Any]
    scratch: Any
    method: ClassVar[str] = "tree search"
    """The name of this kind of search, for results and reports."""
    is_game: ClassVar[bool] = True
    begins_anew: ClassVar[bool] = False
    """Whether no tree is kept after a move, because the information of the player has changed."""
    nothing_open: ClassVar[str] = "every move that was asked for is proven"
    """The reason of a search that ends because no move is open, although the root is not proven."""

    # The root.

    @property
    def expand_after(self) -> int:
        """Return how many visits a leaf needs before it is expanded."""
        raise NotImplementedError

    @property
    def moves_played(self) -> int:
        """Return how many moves led to the root; noise and Gumbel numbers depend on it."""
        raise NotImplementedError

    @property
    def is_forced(self) -> bool:
        """Return whether there is only one action."""
        raise NotImplementedError

    @property
    def is_cheap(self) -> bool:
        """Return whether simulations are cheap enough to run some of them for a forced move."""
        raise NotImplementedError

    def refuse(self, what: str) -> None:
        """Raise where the root cannot be searched (at the end or at a chance node) or evaluations are in flight."""
        raise NotImplementedError

    def refuse_finished(self) -> None:
        """Raise TerminalPositionError where the game is over, so that there is no result."""
        raise NotImplementedError

    def advance(self, move: Any) -> None:
        """Play a move, and keep the part of the tree below it."""
        raise NotImplementedError

    # Simulations.

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        raise NotImplementedError

    @property
    def from_cache(self) -> bool:
        """Return whether the compiled code came from an earlier process."""
        raise NotImplementedError

    def begin_run(self) -> None:
        """Prepare a run: the kernels, and the counters of each run."""
        self.prepare()

    def advance_by(self, simulations: int, left: int, interrupts: Interrupts) -> None:
        """Run about `simulations` simulations, or with an evaluator in Python one batch, of at most `left`."""
        raise NotImplementedError

    @property
    def in_flight(self) -> int:
        """Return the number of in-flight evaluations."""
        raise NotImplementedError

    @property
    def solved(self) -> bool:
        """Return whether the root is proven."""
        return bool(self.tree.columns.links["flags"][ROOT] & PROVEN)

    @property
    def trees(self) -> list[Tree]:
        """Return all trees that are searched."""
        return [self.tree]

    @property
    def node_count(self) -> int:
        """Return the number of nodes of all trees."""
        return sum(tree.size for tree in self.trees)

    def retarget(self) -> None:
        """Clear the tree of a paranoid search if its target player is no longer the player to move."""

    # Leaves for the caller.

    def gather(self, size: int, budget: int) -> Batch:  # noqa: ARG002
        """Return up to `size` distinct leaves to evaluate, within a budget of simulations."""
        raise ConfigError(self.no_batches)

    no_batches: ClassVar[str] = ""
    """The error text of drivers that cannot return leaves."""

    # For results.

    def labels(self, position: Any, numbers: Sequence[int]) -> Callable[[int], Hashable]:  # noqa: ARG002
        """Return a function from the numbers of a result to its actions."""
        return int

    def origin(self) -> dict[str, str]:
        """Return the rules digest, the start and the evaluator, for a report."""
        raise NotImplementedError

    def extras(self) -> dict[str, Any]:
        """Return fields of the result that only Python problems have."""
        return {}
