"""The base of the drivers of compiled games: the position at the root, and calls of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.engine import Engine
from treetop.compiler.functions import CompiledFunction
from treetop.errors import MethodError, SearchError, TreetopError
from treetop.game.position import Position
from treetop.kernels.build import Build
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.drivers.driver import Driver
from treetop.search.drivers.failures import failure
from treetop.search.drivers.scratch import Scratch
from treetop.search.evaluator import evaluate_batch, in_python, name_of
from treetop.search.interrupts import Interrupts
from treetop.search.refusals import chooser, refuse_chance, refuse_finished
from treetop.types import CHANCE, SIMULTANEOUS


class GameDriver(Driver):
    """The base of the drivers of compiled games."""

    position: Position
    engine: Engine
    build: Build
    scratch: Scratch

    def __init__(
        self, position: Position, config: SearchConfig, evaluator: Any, seed: int, player: int, tier: str | None = None
    ) -> None:
        self.position, self.player, self.game = position, player, position.game
        self.config, self.evaluator, self.seed = config, evaluator, seed
        self.use_tier(tier)

    def use_tier(self, tier: str | None) -> None:
        """Use compiled code of a tier: auto, indirect or direct; None: that of the process."""
        self.engine = self.game.engine(tier=tier)
        self._prepared: Build | None = None  # the build whose kernels are ready

    # The root.

    @property
    def expand_after(self) -> int:
        """Return how many visits a leaf needs before it is expanded."""
        if self.config.growth.expand_after is not None:
            return self.config.growth.expand_after
        return int(getattr(self.evaluator, "expand_after", 0))

    @property
    def moves_played(self) -> int:
        """Return how many moves led to the root."""
        return len(self.position.actions)

    @property
    def is_forced(self) -> bool:
        """Return whether there is only one legal action."""
        return not self.game.facts.action_size and len(self.position.legal_actions(self.player)) <= 1

    @property
    def is_cheap(self) -> bool:
        """Return whether leaves are evaluated by compiled code."""
        return in_python(self.evaluator) is None

    def refuse(self, what: str) -> None:
        """Raise where the root cannot be searched, or evaluations are in flight."""
        if what != "advance":
            refuse_finished(self.position)
            refuse_chance(self.position)
        if self.in_flight:
            raise SearchError(
                f"cannot {what} while {self.in_flight} evaluations are in flight: tell or drop them first"
            )

    def refuse_finished(self) -> None:
        """Raise TerminalPositionError where the game is over, so that there is no result."""
        refuse_finished(self.position)

    def advance(self, move: int | str) -> None:
        """Play a move, and start a new tree."""
        action = self.position.parse_move(move) if isinstance(move, str) else move
        position = self.position.apply(action)
        if position.is_terminal:
            self.position = position
            self.tree.clear()
            return
        if position.player != CHANCE:
            self.player = chooser(position, self.player if position.player == SIMULTANEOUS else None)
        self.start(position)

    def start(self, position: Position) -> None:
        """Start a new search from a position, for `player`."""
        raise NotImplementedError

    # Simulations.

    @property
    def in_flight(self) -> int:
        """Return how many leaves were gathered and neither absorbed nor dropped."""
        return 0

    def run(self, simulations: int) -> int:
        """Run `simulations` simulations, or until the root is proven; return how many were run."""
        raise NotImplementedError

    def advance_by(self, simulations: int, left: int, interrupts: Interrupts) -> None:  # noqa: ARG002
        """Run about `simulations` simulations, or with an evaluator in Python one batch, of at most `left`."""
        evaluator = in_python(self.evaluator)
        if evaluator is None:
            self.run(simulations)
            return
        # The batch must not depend on the slice, which depends on the clock.
        leaves = self.gather(min(left, self.config.batch_size), left)
        if len(leaves):
            try:
                self.tell(leaves, *evaluate_batch(evaluator, leaves))
            except BaseException:
                if leaves._open:
                    self.drop(leaves)
                raise

    def tell(self, batch: Batch, logits: Any, values: Any) -> None:
        """Absorb the evaluations of a batch."""
        raise NotImplementedError

    def drop(self, batch: Batch) -> None:
        """Discard a batch, and remove its in-flight visits."""
        raise NotImplementedError

    def call(self, kernel: CompiledFunction[..., Any], *args: Any) -> None:
        """Call a kernel on the tree."""
        try:
            self.engine.entry(kernel)(self.control, self.tree.pack, *args)
        except MethodError as error:
            raise self.failure(error.__cause__) from error.__cause__
        finally:
            self.tree.size = int(self.control[0]["size"])

    def prepare_kernel(self, kernel: CompiledFunction[..., Any], *args: Any) -> None:
        """Compile a kernel, or load it from the cache."""
        self.engine.entry(kernel).prepare(self.control, self.tree.pack, *args)

    def prepare_advance(self) -> None:
        """Compile the kernels that `advance` needs, or load them from the cache."""

    def path(self) -> npt.NDArray[np.int32]:
        """Return the nodes of the last descent."""
        path: npt.NDArray[np.int32] = self.scratch.work.path
        return path

    def failure(self, error: BaseException | None = None) -> TreetopError:
        """Return the error to raise after a kernel has reported a failure of the game."""
        return failure(self, error)

    # For results.

    def origin(self) -> dict[str, str]:
        """Return the rules digest, the start and the evaluator, for a report."""
        position = self.position
        return {
            "rules_digest": self.engine.blueprint.digest,
            "start": repr(self.game.view(position.start.copy())) if position.was_set_up else "the game's start",
            "evaluator": name_of(self.evaluator),
        }
