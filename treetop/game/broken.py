"""The promises of a game, and the error where one does not hold: with the user's own line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from treetop.compiler.diagnosis import RETURN_INTEGERS
from treetop.errors import GameError, TreetopError
from treetop.game.definition import Game
from treetop.game.lines import is_ours, users_line
from treetop.game.watchdog import EndlessError, note_call

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
    "estimate": "heuristic writes finite numbers, within the range of values",
    "works": "no method fails",
    "ends": "every method ends",
}
"""What `treetop.check` holds a game to. Where a promise is broken, its text is what the user reads first."""

_OF_METHODS = {
    "random": "random_action",
    "key": "key",
    "chance": "chance_outcomes",
    "vectors": "sample_action",
    "secrets": "determinize",
    "recall": "information",
}
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
    note_call()
    try:
        return call()
    except EndlessError as error:
        raise BrokenError(
            "ends", f"{method} does not end: it was stopped after some seconds", method, users_line(error)
        ) from error
    except TreetopError as error:
        if compiled:
            raise
        raise BrokenError("works", f"{method} fails: {error}", method, users_line(error)) from error
    except (Exception, SystemExit) as error:
        mode = "compiled, " if compiled else ""
        raise BrokenError(
            "works", f"{mode}{method} fails: {type(error).__name__}: {error}", method, users_line(error)
        ) from error


def as_whole(method: str, value: Any) -> int:
    """Return what a method returned, which must be a whole number of at most 64 bits."""
    name = method.partition("(")[0]
    wanted = RETURN_INTEGERS.get(name, "a whole number")
    if not isinstance(value, (bool, np.bool_, int, np.integer)):
        raise BrokenError("works", f"{method} returned {value!r}; it must return {wanted} on every path", method)
    if not -(2**63) <= int(value) < (2**64 if name in ("key", "information") else 2**63):
        raise BrokenError(
            "works", f"{method} returned {value}, which does not fit into 64 bits; it must return {wanted}", method
        )
    return int(value)


def asked(game: Game, state: Any, method: str, *arguments: Any) -> Any:
    """Call a method of a state; a failure becomes a `GameError` with the user's own line and the state."""
    try:
        return getattr(state, method)(*arguments)
    except (Exception, SystemExit) as error:
        what = str(error) if isinstance(error, TreetopError) else f"{type(error).__name__}: {error}"
        line = users_line(error)
        raise GameError(
            f"{game.name}.{method} fails: {what}{f'{chr(10)}  {line}' if line else ''}\nin {shown(state)}"
        ) from error


def asked_whole(game: Game, state: Any, method: str, *arguments: Any) -> int:
    """Call a method of a state that returns a whole number."""
    try:
        return as_whole(method, asked(game, state, method, *arguments))
    except BrokenError as broken:
        raise GameError(f"{game.name}: {broken.detail}\n  {broken.where(game)}\nin {shown(state)}") from None


def shown(state: Any) -> str:
    """Return a state as text, also where the user's own `__repr__` fails."""
    try:
        return repr(state)
    except Exception:  # noqa: BLE001 - the fields always print
        return f"{type(state).__name__}: {state._record}"


def _definition(game: Game, method: str) -> str:
    """Return where a method begins; where the user did not write it, where `apply`, `reset` or another one does."""
    for name in (method.partition("(")[0], "apply", "reset", *game.functions):
        code = getattr(inspect.unwrap(getattr(game.cls, name, print)), "__code__", None)
        if code is not None and not is_ours(code.co_filename):
            return f"{code.co_filename}, line {code.co_firstlineno}: def {code.co_name}"
    return ""
