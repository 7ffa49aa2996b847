"""Find the shortest game that shows a failure, and write the text of the error."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

from treetop.compiler.rng import Rng
from treetop.errors import ConformanceError
from treetop.game.contract import REQUIREMENTS, ContractError, state_text
from treetop.game.definition import Game
from treetop.game.examiner import Examiner
from treetop.game.position import Position

_BUDGET = 2_000  # the number of positions that are examined in this search
_NEEDS_TWO_GAMES = ("key", "recall")


def conformance_error(
    examiner: Examiner, deal: int, played: list[Any], broken: ContractError, seconds: float = math.inf
) -> ConformanceError:
    """Return the error for a violation, with the shortest game found within a limit of CPU seconds."""
    found, why = shortest(examiner, deal, played, broken, seconds)
    return ConformanceError(failure_text(examiner.game, deal, found, why))


def shortest(
    examiner: Examiner, deal: int, played: list[Any], broken: ContractError, seconds: float = math.inf
) -> tuple[list[Any], ContractError]:
    """Return the shortest list of actions found that violates the same requirement, and the violation."""
    best, why = list(played), broken
    # The first needs two positions, so no action can be left out; an attempt at the second takes seconds.
    if broken.requirement in _NEEDS_TWO_GAMES or broken.requirement == "ends":
        return best, why
    until = time.thread_time() + seconds
    for actions in _all_short(examiner.game, deal, len(best)):
        if time.thread_time() > until:
            break
        found = _fails(examiner, deal, actions)
        if found and found[1].requirement == broken.requirement:
            return found
    size = len(best) // 2
    while size:
        for start in range(len(best) - size + 1):
            if time.thread_time() > until:
                return best, why
            found = _fails(examiner, deal, best[:start] + best[start + size :])
            if found and found[1].requirement == broken.requirement and len(found[0]) < len(best):
                best, why = found
                break
        else:
            size //= 2
        size = min(size, len(best) // 2) if len(best) > 1 else 0
    return best, why


def _fails(examiner: Examiner, deal: int, actions: list[Any]) -> tuple[list[Any], ContractError] | None:
    """Replay actions and return those before the first failure with the failure; None without one or if illegal."""
    rng = Rng(1)
    examiner.forget()
    done: list[Any] = []
    try:
        position = examiner.start(deal)
        for action in actions:
            if action not in examiner.examine(position, rng, thorough=True):
                return None
            done.append(action)
            position = examiner.step(position, action)
        if examiner.examine(position, rng, thorough=True):
            examiner.length(len(actions))
    except ContractError as broken:
        return done, broken
    return None


def _all_short(game: Game, deal: int, below: int) -> Iterator[list[Any]]:
    """Yield lists of actions, the shortest first, up to the budget."""
    start = _start(game, deal)
    waiting: list[tuple[list[Any], Position]] = [([], start)] if start is not None else []
    looked = 0
    while waiting:
        actions, position = waiting.pop(0)
        if len(actions) >= below or looked >= _BUDGET:
            return
        looked += 1
        yield actions
        try:
            waiting.extend(([*actions, action], position.apply(action)) for action in position.legal_actions())
        except Exception:  # noqa: BLE001 - a failing position has no successors; the list that leads to it was yielded
            continue


def _start(game: Game, deal: int) -> Position | None:
    try:
        return Position.start(game, Rng.from_word(deal))
    except Exception:  # noqa: BLE001 - the failure that is being shortened
        return None


def failure_text(game: Game, deal: int, actions: list[Any], broken: ContractError) -> str:
    """Return the text of an error: the requirement, the violation, the user's line, the moves and the last position."""
    position, names = None if broken.method in ("reset", "deal") else _start(game, deal), list[str]()
    hangs = broken.requirement == "ends" and broken.method.startswith("apply")
    shown = "(there is no position: the game cannot be started)"
    dealt = ""
    if position is not None:
        dealt = f"\ndealt: {state_text(position.state)}" if game.has("deal") else ""
        try:
            for number, action in enumerate(actions, start=1):
                names.append(position.move_text(action))
                if not (hangs and number == len(actions)):
                    position = position.apply(action)
            shown = str(position)
        except Exception:  # noqa: BLE001 - the failure that is being reported
            shown = state_text(position.state)
    moves = f"the moves {' '.join(names)} (actions {actions})" if actions else "the start, before any move"
    requirement = REQUIREMENTS[broken.requirement]
    return (
        f"{game.name} violates a requirement: {requirement}.\n{broken.detail}\n  {broken.where(game)}{dealt}\n"
        f"found after {moves}:\n{shown}"
    )
