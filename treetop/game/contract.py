"""The requirements of a game and the error for a violation, with the line of the user's code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from treetop.checks import shorten
from treetop.compiler.diagnosis import RETURN_INTEGERS, RETURN_NOTHING
from treetop.errors import GameError, TreetopError
from treetop.game.definition import Game
from treetop.game.facts import Facts
from treetop.game.lines import is_ours, users_line
from treetop.game.watchdog import EndlessError, note_call

REQUIREMENTS = {
    "same": "interpreted and compiled rules agree: states, players, actions, rewards, keys, random moves",
    "pure": "asking a state changes nothing in it",
    "player": "the player to move is one of the players",
    "actions": "legal actions are in range, at least one and each only once, and all of them can be applied",
    "chance": "outcomes of chance are in range and listed once, with positive probabilities that sum to one",
    "draws": "random_outcome draws outcomes from their probabilities",
    "vectors": "sample_action draws finite numbers",
    "length": "no game is longer than max_length",
    "rewards": "rewards are finite, within the declared range, and sum to zero in zero-sum games",
    "random": "random_action returns legal actions, each with the same probability",
    "key": "equal keys have equal players, actions and successors",
    "determinize": "determinize keeps the player's information, the player to move, that player's legal actions and "
    "whether the game is over",
    "recall": "information has perfect recall: equal keys have equal legal actions and equal histories of that player",
    "names": "moves and outcomes have unique names without blanks that parse_move reads back; positions can be printed",
    "estimate": "heuristic writes finite numbers within the range of values",
    "observe": "observe writes finite numbers that depend on nothing but the state and the player",
    "hidden": "observe writes nothing that is hidden from the player: determinize does not change the observation",
    "symmetry": "a transformed game is a game with the same players, ends, rewards and probabilities, and "
    "transform_action maps its actions",
    "works": "no method fails",
    "returns": "each method returns a value of the right kind, or nothing where it fills an array or changes the state",
    "ends": "every method ends",
}
"""The requirements that `treetop.check` verifies. The text of a violated one is the first line of the error."""

_METHODS_OF = {
    "random": ("random_action",),
    "key": ("key",),
    "chance": ("chance_outcomes",),
    "draws": ("random_outcome",),
    "vectors": ("sample_action",),
    "determinize": ("determinize",),
    "recall": ("information",),
    "estimate": ("heuristic",),
    "observe": ("observe",),
    "hidden": ("observe", "determinize"),
    "symmetry": ("transform",),
}
"""Requirements that apply only to games with certain methods."""


def requirements_of(game: Game) -> tuple[str, ...]:
    """Return the texts of all requirements that apply to a game."""
    return tuple(text for name, text in REQUIREMENTS.items() if all(map(game.has, _METHODS_OF.get(name, ()))))


_FILLED = {
    "legal_actions": "num_actions",
    "legal_actions_of": "num_actions",
    "chance_outcomes": "num_outcomes",
    "rewards": "players",
    "step_rewards": "players",
    "heuristic": "players",
    "sample_action": "action_size",
    "observe": "observation_shape",
}
"""The methods that fill arrays, and the fact that is the length or the shape of these."""


class ContractError(Exception):
    """A violated requirement, with the method that violated it."""

    def __init__(self, requirement: str, detail: str, method: str, line: str = "") -> None:
        super().__init__(detail)
        self.requirement, self.detail, self.method, self.line = requirement, detail, method, line

    def where(self, game: Game) -> str:
        """Return the line that failed, or the first line of the method."""
        return self.line or definition_of(game, self.method)


def guard(method: str, call: Callable[[], Any], *, compiled: bool = False, facts: Facts | None = None) -> Any:
    """Call a method of the user's game; a failure becomes a `ContractError` with the line of the user's code.

    So does a value of a method that must return nothing. With `facts`, an index out of bounds is explained.
    """
    note_call()
    try:
        answer = call()
    except EndlessError as error:
        raise ContractError(
            "ends", f"{method} does not end: it was stopped after a few seconds", method, users_line(error)
        ) from error
    except (Exception, SystemExit) as error:
        if compiled and isinstance(error, TreetopError):
            raise
        mode, cause = ("compiled, ", error) if compiled else ("", _cause(error))
        what = f"{mode}{method} fails: {_failure(cause)}{_length_hint(cause, method, facts)}"
        raise ContractError("works", what, method, users_line(cause)) from error
    instead = RETURN_NOTHING.get(_name(method))
    if instead is not None and answer is not None:
        raise ContractError(
            "returns", f"{method} returned {shorten(answer)}; it must {instead} and return nothing", method
        )
    return answer


def as_whole(method: str, value: Any) -> int:
    """Return the return value of a method as an int; it must be a whole number of at most 64 bits."""
    name = _name(method)
    wanted = RETURN_INTEGERS.get(name, "a whole number")
    if not isinstance(value, (bool, np.bool_, int, np.integer)):
        raise ContractError(
            "returns", f"{method} returned {shorten(value)}; it must return {wanted} on every path", method
        )
    if not -(2**63) <= int(value) < (2**64 if name in ("key", "information") else 2**63):
        raise ContractError(
            "returns", f"{method} returned {value}, which does not fit into 64 bits; it must return {wanted}", method
        )
    return int(value)


def call(game: Game, state: Any, method: str, *arguments: Any) -> Any:
    """Call a method of a state; a failure becomes a `GameError` with the line of the user's code and the state."""
    try:
        return getattr(state, method)(*arguments)
    except (Exception, SystemExit) as error:
        line = users_line(error)
        where = f"\n  {line}" if line else ""
        raise GameError(f"{game.name}.{method} fails: {_failure(error)}{where}\nin {state_text(state)}") from error


def call_whole(game: Game, state: Any, method: str, *arguments: Any) -> int:
    """Call a method of a state and return its value, which must be a whole number."""
    try:
        return as_whole(method, call(game, state, method, *arguments))
    except ContractError as broken:
        raise GameError(f"{game.name}: {broken.detail}\n  {broken.where(game)}\nin {state_text(state)}") from None


def _cause(error: BaseException) -> BaseException:
    """Return the user's own error, if a position has wrapped it in a `GameError`."""
    return error.__cause__ if isinstance(error, GameError) and error.__cause__ is not None else error


def _failure(error: BaseException) -> str:
    return str(error) if isinstance(error, TreetopError) else f"{type(error).__name__}: {error}"


def _length_hint(error: BaseException, method: str, facts: Facts | None) -> str:
    """Return the size of the array that a method fills, if an index was out of bounds of an array of this size."""
    name = _FILLED.get(_name(method))
    if facts is None or name is None or not isinstance(error, IndexError):
        return ""
    declared = getattr(facts, name)
    if isinstance(declared, tuple):
        known, what = any(str(error).endswith(f"with size {size}") for size in declared), f"{name} = {declared}"
    else:
        known, what = str(error).endswith(f"with size {declared}"), f"{name} = {declared} entries"
    return f"; the array to fill has {what}" if known else ""


def state_text(state: Any) -> str:
    """Return a state as text, even if the user's `__repr__` fails."""
    try:
        return repr(state)
    except Exception:  # noqa: BLE001 - the fields always print
        return f"{type(state).__name__}: {state._record}"


def _name(method: str) -> str:
    """Return the name of a method that may be given with its arguments, as in `apply(3)`."""
    return method.partition("(")[0]


def definition_of(game: Game, method: str) -> str:
    """Return the first line of a method, or of `apply`, `reset` or another method if the user did not write it."""
    for name in (_name(method), "apply", "reset", *game.functions):
        code = getattr(inspect.unwrap(getattr(game.cls, name, print)), "__code__", None)
        if code is not None and not is_ours(code.co_filename):
            return f"{code.co_filename}, line {code.co_firstlineno}: def {code.co_name}"
    return ""
