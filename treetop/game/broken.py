"""The promises of a game, and how it is told that one does not hold: with the user's own line."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

from treetop.errors import TreetopError
from treetop.game.definition import Game

PROMISES = {
    "same": "interpreted and compiled rules agree: states, players, actions, rewards, keys, random moves",
    "pure": "asking a state changes nothing in it",
    "player": "the player to move is one of the players",
    "actions": "legal actions are in range, at least one and each only once, and all of them can be applied",
    "chance": "outcomes of chance are in range, each only once, with probabilities above zero that sum to one; random_outcome draws by them",
    "vectors": "sample_action draws finite numbers",
    "length": "no game is longer than max_length",
    "rewards": "rewards are finite, within the range, and add up to zero where that is said",
    "random": "random_action is legal, and every legal action has its chance",
    "key": "equal keys have equal players, actions and successors",
    "secrets": "determinize keeps all that a player knows: information, the player to move, that player's actions, and whether the game is over",
    "recall": "information tells what the player has seen and done so far: equal keys have equal actions and equal pasts of that player",
    "names": "moves have names of their own, without blanks, that can be read back; positions print",
    "works": "no method fails",
}
"""What `treetop.check` holds a game to. Where a promise is broken, its text is what the user reads first."""

_OF_METHODS = {
    "random": "random_action", "key": "key", "chance": "chance_outcomes", "vectors": "sample_action", "secrets": "determinize",
    "recall": "information",
}  # fmt: skip
"""Promises that only games with a certain method give."""


def kept(game: Game) -> tuple[str, ...]:
    """The texts of all promises that a game gives."""
    return tuple(text for name, text in PROMISES.items() if game.has(_OF_METHODS.get(name, "reset")))


class BrokenError(Exception):
    """A promise that did not hold, with the method that broke it."""

    def __init__(self, promise: str, detail: str, method: str, line: str = "") -> None:
        super().__init__(detail)
        self.promise, self.detail, self.method, self.line = promise, detail, method, line

    def where(self, game: Game) -> str:
        """The line that failed, or where the method begins."""
        return self.line or _definition(game, self.method)


def guard(method: str, call: Callable[[], Any], *, compiled: bool = False) -> Any:
    """Run a method of the user's; a failure becomes a broken promise with the user's own line."""
    try:
        return call()
    except TreetopError as error:
        if compiled:
            raise
        raise BrokenError("works", f"{method} fails: {error}", method, _line(error)) from error
    except Exception as error:
        mode = "compiled, " if compiled else ""
        line = "" if compiled else _line(error)
        raise BrokenError("works", f"{mode}{method} fails: {type(error).__name__}: {error}", method, line) from error


def _line(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/treetop/game/" not in frame.filename]
    return f"{frames[-1].filename}, line {frames[-1].lineno}: {frames[-1].line}" if frames else ""


def _definition(game: Game, method: str) -> str:
    method = method.partition("(")[0]
    function = game.functions.get(method) or getattr(game.cls, method, None)
    if function is None:
        return ""
    code = inspect.unwrap(function).__code__
    return f"{code.co_filename}, line {code.co_firstlineno}: def {method}"
