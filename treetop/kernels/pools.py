"""What a pool does with the control records of its slots around each batch, in one call for all of them."""

from __future__ import annotations

from typing import Any

from treetop.compiler.functions import kernel
from treetop.kernels.control import FIRST_FAILURE, SOLVED
from treetop.types import NONE

NOTHING_LEFT, GOING, FAILED = range(3)
"""What is left to do in some slots: all budgets are used up, or some are not, or the game has failed in one."""


@kernel
def open_slots(
    game: Any, controls: Any, closed: Any, capacities: Any, reserve: int, most: int, first: int, last: int
) -> int:
    """Prepare some slots for `gather`, which leaves space for `reserve` nodes.

    Return the first slot whose tree has to grow before, and from which to continue; NONE if there is none.
    """
    for slot in range(first, last):
        control = controls[slot]
        control.gathered = 0
        if closed[slot]:
            control.budget = control.done
        elif control.done < control.budget and control.size + reserve + most > capacities[slot]:
            return int(slot)
        control.capacity = capacities[slot] - reserve
    return int(NONE)


@kernel
def gathered_slots(game: Any, controls: Any, closed: Any, first: int, last: int) -> int:
    """Close the slots that are solved after `gather`; return what is left to do."""
    left = NOTHING_LEFT
    for slot in range(first, last):
        control = controls[slot]
        if control.status >= FIRST_FAILURE:
            return FAILED
        if control.status == SOLVED:
            closed[slot] = True
        if control.done < control.budget and not closed[slot]:
            left = GOING
    return left


@kernel
def absorbed_slots(game: Any, controls: Any, first: int, last: int) -> int:
    """Note that no leaves are in flight after `absorb`; return FAILED if the game has failed, and leave them."""
    for slot in range(first, last):
        if controls[slot].status >= FIRST_FAILURE:
            return FAILED
    for slot in range(first, last):
        controls[slot].gathered = 0
    return GOING
