"""The shortest game that shows a failure, and the text of the error."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

from treetop.compiler.rng import Rng
from treetop.errors import ConformanceError
from treetop.game.broken import PROMISES, BrokenError
from treetop.game.broken import shown as shown_state
from treetop.game.definition import Game
from treetop.game.looks import Looks
from treetop.game.position import Position

_BUDGET = 2_000  # positions that the hunt may look at
_TAKES_TWO_GAMES = ("key", "recall")


def explained(
    looks: Looks, deal: int, played: list[Any], broken: BrokenError, seconds: float = math.inf
) -> ConformanceError:
    """Return the error for a broken promise, with the shortest game found within some seconds of CPU time."""
    found, why = shortest(looks, deal, played, broken, seconds)
    return ConformanceError(tell(looks.game, deal, found, why))


def shortest(
    looks: Looks, deal: int, played: list[Any], broken: BrokenError, seconds: float = math.inf
) -> tuple[list[Any], BrokenError]:
    """Return the fewest actions that break the same promise, and how they break it."""
    best, why = list(played), broken
    if broken.promise in _TAKES_TWO_GAMES or broken.promise == "ends":
        return (
            best,
            why,
        )  # two positions are needed to show it, so nothing can be left out; or each attempt takes seconds
    until = time.thread_time() + seconds
    for actions in _all_short(looks.game, deal, len(best)):
        if time.thread_time() > until:
            break
        found = _fails(looks, deal, actions)
        if found and found[1].promise == broken.promise:
            return found
    size = len(best) // 2
    while size:
        for start in range(len(best) - size + 1):
            if time.thread_time() > until:
                return best, why
            found = _fails(looks, deal, best[:start] + best[start + size :])
            if found and found[1].promise == broken.promise and len(found[0]) < len(best):
                best, why = found
                break
        else:
            size //= 2
        size = min(size, len(best) // 2) if len(best) > 1 else 0
    return best, why


def _fails(looks: Looks, deal: int, actions: list[Any]) -> tuple[list[Any], BrokenError] | None:
    """Replay; the moves up to the first failure, and the failure. None if nothing fails or a move is illegal."""
    rng = Rng(1)
    looks.forget()
    done: list[Any] = []
    try:
        position = looks.start(deal)
        for action in actions:
            if action not in looks.look(position, rng, close=True):
                return None
            done.append(action)
            position = looks.step(position, action)
        if looks.look(position, rng, close=True):
            looks.length(len(actions))
    except BrokenError as broken:
        return done, broken
    return None


def _all_short(game: Game, deal: int, below: int) -> Iterator[list[Any]]:
    """Move lists, the shorter first, as far as the budget goes."""
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
    except Exception:  # noqa: BLE001 - the very failure that is being hunted
        return None


def tell(game: Game, deal: int, actions: list[Any], broken: BrokenError) -> str:
    """A failure in words: the promise, what was seen instead, the user's line, the moves, and the position after them."""
    position, names = None if broken.method in ("reset", "deal") else _start(game, deal), list[str]()
    hangs = broken.promise == "ends" and broken.method.startswith("apply")
    shown = "(there is no position: the game does not begin)"
    dealt = ""
    if position is not None:
        dealt = f"\ndealt: {shown_state(position.state)}" if game.has("deal") else ""
        try:
            for number, action in enumerate(actions, start=1):
                names.append(position.move_text(action))
                if not (hangs and number == len(actions)):
                    position = position.apply(action)
            shown = str(position)
        except Exception:  # noqa: BLE001 - the very failure that is being told
            shown = shown_state(position.state)
    moves = f"the moves {' '.join(names)} (actions {actions})" if actions else "the start, before any move"
    promise = PROMISES[broken.promise]
    return f"{game.name} breaks a promise: {promise}.\n{broken.detail}\n  {broken.where(game)}{dealt}\nseen after {moves}:\n{shown}"
