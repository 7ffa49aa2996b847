"""Errors of the user's code in a Python problem: the reason, the line that raised it and the state, in one wording."""

from __future__ import annotations

import inspect
from typing import Any

from treetop.errors import GameError
from treetop.game.lines import users_line

_LONGEST = 500  # letters of a state that are shown


class ProblemError(GameError):
    """An invalid answer of a problem or an evaluator, which ends the search.

    Other errors of the user's code end a node only.
    """


def reason_of(error: BaseException) -> str:
    """Return an exception as text."""
    return f"{type(error).__name__}: {error}"


def described(error: BaseException) -> str:
    """Return an exception as text, with the line of the user's code that raised it."""
    line = users_line(error)
    return f"{reason_of(error)} ({line})" if line else reason_of(error)


def refused_arguments(function: Any, count: int) -> str | None:
    """Return the signature of a function that cannot be called with `count` arguments; None if it can be."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C have none
        return None
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return str(signature)
    return None


def shown(state: Any) -> str:
    """Return a state as text for the end of an error message."""
    if state is None:
        return ""
    try:
        text = repr(state)
    except Exception:  # noqa: BLE001 - a state that cannot be printed must not hide the error
        return ""
    return f"\nin the state {text[:_LONGEST]}"
