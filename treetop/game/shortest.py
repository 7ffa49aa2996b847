"""Find a short game that shows a failure, and write the text of the error."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from treetop.compiler.rng import Rng
from treetop.errors import ConformanceError
from treetop.game.contract import REQUIREMENTS, ContractError, state_text
from treetop.game.definition import Game
from treetop.game.examiner import Examiner
from treetop.game.position import Position

_BUDGET = 3_000  # the number of positions that are examined to shorten a game
_SHORT = 2_000  # the number of states that are tried, the nearest first
_RANDOM = 1_000  # the number of lists in which some actions are replaced by random ones
_AS_PLAYED = ("key", "recall", "ends", "length")
"""Requirements whose games are shown as they were played: the first two need an earlier game too, an attempt at the
third takes seconds, and for the fourth every game has the same length."""


def conformance_error(
    examiner: Examiner, deal: int, played: list[Any], broken: ContractError, seconds: float = math.inf
) -> ConformanceError:
    """Return the error for a violation, with the shortest game that was found within a limit of CPU seconds."""
    found, why = shortest(examiner, deal, played, broken, seconds)
    return ConformanceError(failure_text(examiner.game, deal, found, why))


def shortest(
    examiner: Examiner, deal: int, played: list[Any], broken: ContractError, seconds: float = math.inf
) -> tuple[list[Any], ContractError]:
    """Return the shortest list of actions found that violates the same requirement, and the violation."""
    if broken.requirement in _AS_PLAYED:
        return played, broken
    search = _Search(examiner, deal, broken.requirement, time.thread_time() + seconds / 2)
    for actions in _all_short(examiner.game, deal, len(played)):
        found = search.try_out(actions, len(actions), examined=len(actions) - 1)
        if found is not None:
            return found
        if search.is_over():
            break
    best, why, rng = list(played), broken, Rng(1)
    search = _Search(examiner, deal, broken.requirement, time.thread_time() + seconds / 2)
    while best:
        tried = (search.try_out(actions, len(best) - 1, rng) for actions in _changed(examiner.game, deal, best, rng))
        found = next(filter(None, tried), None)
        if found is None:
            break
        best, why = found
    return best, why


class _Search:
    """Plays lists of actions that may violate a requirement, up to a number of positions and a CPU time."""

    def __init__(self, examiner: Examiner, deal: int, requirement: str, until: float) -> None:
        self._examiner, self._deal, self._requirement, self._until = examiner, deal, requirement, until
        self._left = _BUDGET

    def is_over(self) -> bool:
        """Return whether no more may be played."""
        return self._left <= 0 or time.thread_time() > self._until

    def try_out(
        self, actions: list[Any], longest: int, rng: Rng | None = None, examined: int = -1
    ) -> tuple[list[Any], ContractError] | None:
        """Play actions and return those before the violation, with the violation; None if there is none.

        With `rng`, random actions replace those that are illegal and follow the last one, up to the length `longest`.
        The positions after the first `examined` actions are known to be right.
        """
        if self.is_over():
            return None
        examiner = self._examiner
        examiner.forget()
        done: list[Any] = []
        try:
            position = examiner.start(self._deal)
            while not self.is_over():
                following = actions[len(done) : len(done) + 1]
                if len(done) > examined:
                    self._left -= 1
                    options = examiner.examine(position, Rng(1), thorough=True)
                    if not options or len(done) == longest:
                        break
                    if not following or following[0] not in options:
                        if rng is None:
                            break
                        following = [options.pick(rng)]
                done += following
                position = examiner.step(position, following[0])
        except ContractError as broken:
            return (done, broken) if broken.requirement == self._requirement else None
        return None


def _changed(game: Game, deal: int, actions: list[Any], rng: Rng) -> Iterator[list[Any]]:
    """Yield a list of actions without some of them, with one of them replaced, and with some of them left to chance."""
    size = len(actions) // 2
    while size:
        for start in range(len(actions) - size + 1):
            yield actions[:start] + actions[start + size :]
        size //= 2
    for place, legal in enumerate(_choices(game, deal, actions)):
        for other in legal:
            if other != actions[place]:
                yield [*actions[:place], other, *actions[place + 1 :]]
    for _ in range(_RANDOM):
        yield [None if rng.below(4) == 0 else action for action in actions]


def _choices(game: Game, deal: int, actions: list[Any]) -> Iterator[list[Any]]:
    """Yield the legal actions at each place of a list; nothing after a position that fails or has continuous ones."""
    try:
        position = Position.start(game, Rng.from_word(deal))
        for action in actions:
            yield position.legal_actions()
            position = position.apply(action)
    except Exception:  # noqa: BLE001 - the failure that is being shortened
        return


def _all_short(game: Game, deal: int, below: int) -> Iterator[list[Any]]:
    """Yield lists of actions, the shortest first, up to a number; only one of those that lead to the same state."""
    start = _start(game, deal)
    waiting = deque([start] if start is not None else [])
    known: set[Any] = set()
    while waiting and len(known) < _SHORT:
        position = waiting.popleft()
        if len(position.actions) >= below:
            return
        # The sum of immediate rewards depends on the path.
        key = position.actions if game.has("step_rewards") else position.record.tobytes()
        if key in known:
            continue
        known.add(key)
        yield list(position.actions)
        try:
            waiting.extend(position.apply(action) for action in position.legal_actions())
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
