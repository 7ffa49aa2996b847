"""What every driver has: a driver runs simulations on a tree. It knows no limits and no results, which belong to the session."""

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
    """The game: of a Python problem, its facts in the shape of a game."""
    position: Any
    """The root: a `Position`; of a Python problem, its root in the same shape."""
    player: int
    """The player for whom the search is made: the player to move, or one of several who move simultaneously."""
    config: SearchConfig
    evaluator: Any
    seed: int
    plan: Plan
    tree: Tree
    control: npt.NDArray[Any]
    scratch: Any
    is_game: ClassVar[bool] = True
    begins_anew: ClassVar[bool] = False
    """Whether nothing is kept after a move, because it changes what every simulation assumed."""
    nothing_open: ClassVar[str] = "every move that was asked for is proven"
    """Why a search ends that can neither continue nor prove the root."""

    # The root.

    @property
    def expand_after(self) -> int:
        """Return how many visits a leaf needs before it is expanded."""
        raise NotImplementedError

    @property
    def moves_played(self) -> int:
        """Return how many moves led to the root: noise and Gumbel numbers differ from move to move."""
        raise NotImplementedError

    @property
    def is_forced(self) -> bool:
        """Return whether there is only one action."""
        raise NotImplementedError

    @property
    def is_cheap(self) -> bool:
        """Return whether simulations cost so little that a forced move gets some."""
        raise NotImplementedError

    def refuse(self, what: str) -> None:
        """Raise where the root cannot be searched (the game is over, or chance decides) or evaluations are in flight."""
        raise NotImplementedError

    def refuse_finished(self) -> None:
        """Raise where the game is over, so that there is no result."""
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
        """Prepare a run: the kernels, and what is counted for each run."""
        self.prepare()

    def advance_by(self, simulations: int, batch: int, interrupts: Interrupts) -> None:
        """Run about so many simulations, or one batch of so many leaves where an evaluator in Python values them."""
        raise NotImplementedError

    @property
    def in_flight(self) -> int:
        """Return how many evaluations have begun and not ended."""
        raise NotImplementedError

    @property
    def solved(self) -> bool:
        """Return whether the root is proven."""
        return bool(self.tree.columns.links["flags"][ROOT] & PROVEN)

    @property
    def trees(self) -> list[Tree]:
        """Return all trees that it searches."""
        return [self.tree]

    @property
    def node_count(self) -> int:
        """Return how many nodes it holds."""
        return sum(tree.size for tree in self.trees)

    def face_mover(self) -> None:
        """Start again where a paranoid search was made against another player."""

    # Leaves for the caller.

    def gather(self, size: int, budget: int) -> Batch:  # noqa: ARG002 - refused
        """Return up to `size` distinct leaves to evaluate, within a budget of simulations."""
        raise ConfigError(self.no_batches)

    no_batches: ClassVar[str] = ""
    """Why leaves cannot be handed out, where they cannot."""

    # For results.

    def labels(self, position: Any, numbers: Sequence[int]) -> Callable[[int], Hashable]:  # noqa: ARG002 - for Python problems
        """Return a function from the numbers of a result to its actions."""
        return int

    def origin(self) -> dict[str, str]:
        """Return what a report says of the rules, of the start and of the evaluator."""
        raise NotImplementedError

    def extras(self) -> dict[str, Any]:
        """Return fields of the result that only Python problems have."""
        return {}
