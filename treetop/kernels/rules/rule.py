"""What every selection rule has: options, a score for each child, and a formula.

The kernels' arguments, in the order of `score`:

- `control`: the control record, an array of one record; an option `c` of the rule is `control.c`;
- `tree`: the columns of the tree; `work`: buffers; `child`: the number of a node; `mover`: the player who chooses;
- `value`: Q, the mean for the mover on the scale that rules see, or the first-play urgency of a child without visits;
- `tries`: n, the visits of the child and its evaluations in flight; `prior`: P;
- `total`: N, the tries of all children together, at least 1;
- `node`: what the rule's `at_node` returned for all children together;
- `fpu`: the first-play urgency; `rng`: random numbers.

`at_node` has the parent as `node`, its `depth`, its `first` child and their `count`: all of them, also closed ones.
Return `unvisited(control, fpu)` for a child without tries, unless the rule has a score for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel
from treetop.kernels.control import FPU_FIXED, FPU_PARENT, FPU_SCALED, NO_FPU
from treetop.kernels.parts import DETERMINIZATIONS, PROBLEMS, TREES, Composition, Part, number
from treetop.kernels.tables import log, root_log

Kernel = CompiledFunction[..., Any]


@inline_kernel
def nothing_at_node(
    control: Any, tree: Any, work: Any, node: Any, mover: Any, depth: Any, first: Any, count: Any, total: Any
) -> float:
    """Return 0: the rule computes nothing for all children together."""
    return 0.0


@inline_kernel
def log_at_node(
    control: Any, tree: Any, work: Any, node: Any, mover: Any, depth: Any, first: Any, count: Any, total: Any
) -> float:
    """Return ln N."""
    return log(total)


@inline_kernel
def scale_at_node(
    control: Any, tree: Any, work: Any, node: Any, mover: Any, depth: Any, first: Any, count: Any, total: Any
) -> float:
    """Return c * sqrt(ln N)."""
    return float(control.c * root_log(total))


@inline_kernel
def unvisited(control: Any, fpu: float) -> float:
    """Return the score of a child without visits: infinity, or the first-play urgency where the search has one."""
    return np.inf if control.fpu_kind == NO_FPU else fpu


@inline_kernel
def never(control: Any) -> bool:
    """Return false: a child without visits competes by its score."""
    return False


@inline_kernel
def without_fpu(control: Any) -> bool:
    """Return whether the search has no first-play urgency, so that `unvisited` is infinity."""
    return bool(control.fpu_kind == NO_FPU)


@dataclass(frozen=True, kw_only=True)
class Rule(Part):
    """A selection rule: the child with the highest score is followed.

    >>> import treetop as tt
    >>> isinstance(tt.rules.Ucb1(), tt.rules.Rule), tt.rules.Ucb1().formula
    (True, 'UCB1: score = value + c * sqrt(ln(N) / n)')
    """

    slot = "rule"
    kinds = frozenset({TREES, DETERMINIZATIONS, PROBLEMS})
    formula: ClassVar[str]
    """The score as text, for explanations."""
    score: ClassVar[Kernel]
    """Return the score of one child: see the top of this file for its arguments."""
    at_node: ClassVar[Kernel] = nothing_at_node
    """Return a number that the scores of all children of a node share."""
    tries_all_first: ClassVar[Kernel] = never
    """Return whether a child without visits scores infinity, so that no score is computed while there are any."""
    fast_scale: ClassVar[Kernel | None] = None
    fast_score: ClassVar[Kernel | None] = None
    fast_score_in_flight: ClassVar[Kernel | None] = None
    """The same score for builds without further options, written for speed. None: the rule needs the full build,
    in which a simulation costs more: `python bench/options.py` measures how much."""
    reads_priors: ClassVar[bool] = False

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset() if self.fast_score is not None else frozenset({"full"})

    def describe(self, total: int, simulations: int) -> str:
        """Return the formula with its numbers; `total` is N and `simulations` those of the root."""
        c = getattr(self, "c", None)
        return f"{self.formula}; {'' if c is None else f'c = {c:.6g}, '}N = {total:,}"

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why this rule does not go with the other parts."""
        yield from super().refusals(config)
        if config.noise.fraction > 0 and not self.reads_priors:
            yield f"noise changes priors, which the rule {self.name!r} does not read: use puct or completed"


@dataclass(frozen=True, kw_only=True)
class FpuRule(Rule):
    """A rule with a first-play urgency (FPU): a value that is assumed of children without visits."""

    fpu: float | str | None = number(
        None,
        "First-play urgency, the value assumed of a move without visits: a number; 'parent', the node's value less "
        "fpu_reduction; or 'scaled', less fpu_reduction * sqrt(the priors of the visited moves). Default: such a move "
        "is tried first; for PUCT the middle of the reward range.",
        choices=("parent", "scaled"),
        kernel=False,
    )
    fpu_reduction: float = number(0.25, "How far first-play urgency lies below the node's value.", low=0.0)

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        if self.fpu is None:
            return super().control()
        if isinstance(self.fpu, str):
            return super().control() | {"fpu_kind": FPU_PARENT if self.fpu == "parent" else FPU_SCALED}
        return super().control() | {"fpu_kind": FPU_FIXED, "fpu": float(self.fpu)}

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return super().builds() | (frozenset({"full"}) if self.fpu is not None else frozenset())
