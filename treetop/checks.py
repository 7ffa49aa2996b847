"""Check arguments: whole numbers, numbers, flags and names, with one wording for all refusals.

Each function returns the value it was given, or raises `ConfigError` (or the class in `error`) with a message that
names the argument, what is allowed, and the value: "games must be a whole number of at least 1, not 0".
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any, Literal, TypeGuard, overload

from treetop.errors import ConfigError

INT32_MAX = 2**31 - 1
"""The largest whole number that fits the 32-bit fields of the compiled code. Messages mention it only if it is
exceeded.
"""

_MOST_INT = 2**63  # a whole number at or above this is refused where a real number is wanted: it may not fit a float
_MOST_TEXT = 200


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an int, and not a bool.

    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is an int or a float, and neither a bool nor NaN nor too large for a float.

    >>> is_number(3), is_number(0.5), is_number(True), is_number(math.nan), is_number("3")
    (True, True, False, False, False)
    """
    return (is_whole(value) and abs(value) < _MOST_INT) or (isinstance(value, float) and not math.isnan(value))


@overload
def whole(
    name: str, value: Any, low: int | None = ..., high: int | None = ..., *, error: type[Exception] = ...
) -> int: ...
@overload
def whole(
    name: str,
    value: Any,
    low: int | None = ...,
    high: int | None = ...,
    *,
    optional: Literal[True],
    error: type[Exception] = ...,
) -> int | None: ...
def whole(
    name: str,
    value: Any,
    low: int | None = None,
    high: int | None = None,
    *,
    optional: bool = False,
    error: type[Exception] = ConfigError,
) -> int | None:
    """Return a whole number from `low` to `high`, or raise. With `optional`, None is allowed too.

    >>> whole("games", 10, 1)
    10
    >>> whole("size", 20, 2, 19)
    Traceback (most recent call last):
        ...
    treetop.errors.ConfigError: size must be a whole number from 2 to 19, not 20
    """
    if optional and value is None:
        return None
    if is_whole(value) and (low is None or value >= low) and (high is None or value <= high):
        return value
    hidden = high == INT32_MAX and not (is_whole(value) and value > high)
    raise error(_message(name, f"a whole number{_range(low, None if hidden else high)}", value, optional))


@overload
def number(
    name: str,
    value: Any,
    low: float | None = ...,
    high: float | None = ...,
    *,
    above: float | None = ...,
    below: float | None = ...,
    finite: bool = ...,
    unit: str = ...,
    error: type[Exception] = ...,
) -> float: ...
@overload
def number(
    name: str,
    value: Any,
    low: float | None = ...,
    high: float | None = ...,
    *,
    above: float | None = ...,
    below: float | None = ...,
    finite: bool = ...,
    unit: str = ...,
    optional: Literal[True],
    error: type[Exception] = ...,
) -> float | None: ...
def number(
    name: str,
    value: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    finite: bool = True,
    unit: str = "",
    optional: bool = False,
    error: type[Exception] = ConfigError,
) -> float | None:
    """Return a real number as a float, or raise. NaN is never allowed, infinity only with `finite=False`.

    `low` and `high` are allowed themselves, `above` and `below` are not. `unit` is a word for the message: "seconds".

    >>> number("discount", 1, above=0, high=1)
    1.0
    >>> number("deadline", 0, above=0, unit="seconds")
    Traceback (most recent call last):
        ...
    treetop.errors.ConfigError: deadline must be a positive number of seconds, not 0
    """
    if optional and value is None:
        return None
    if (
        is_number(value)
        and (not finite or math.isfinite(value))
        and (low is None or value >= low)
        and (high is None or value <= high)
        and (above is None or value > above)
        and (below is None or value < below)
    ):
        return float(value)
    positive = above == 0 and high is None and below is None
    what = f"a {'positive ' if positive else ''}number{f' of {unit}' if unit else ''}"
    bounds = "" if positive else _range(low, high, above, below)
    raise error(_message(name, what + bounds, value, optional))


def share(name: str, value: Any, *, error: type[Exception] = ConfigError) -> float:
    """Return a number from 0 to 1, or raise.

    >>> share("noise", 0.25)
    0.25
    """
    return number(name, value, 0, 1, error=error)


def flag(name: str, value: Any, *, optional: bool = False, error: type[Exception] = ConfigError) -> Any:
    """Return True or False (or None with `optional`), or raise.

    >>> flag("reuse", True)
    True
    """
    if isinstance(value, bool) or (optional and value is None):
        return value
    raise error(_message(name, "True or False", value, optional))


def one_of(
    name: str, value: Any, allowed: Iterable[str], *, more: str = "", error: type[Exception] = ConfigError
) -> str:
    """Return one of the allowed strings, or raise. `more` describes what else the argument can be.

    >>> one_of("backup", "maen", ("mean", "max"))
    Traceback (most recent call last):
        ...
    treetop.errors.ConfigError: backup must be 'mean' or 'max', not 'maen'; did you mean 'mean'?
    """
    known = tuple(allowed)
    if isinstance(value, str) and value in known:
        return value
    choices = [repr(choice) for choice in known] + ([more] if more else [])
    listed = " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    close = closest(value, known) if isinstance(value, str) else None
    raise error(_message(name, listed, value) + (f"; did you mean {close!r}?" if close else ""))


def closest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known word that is most like a misspelled one, or None if none is like it.

    >>> closest("othelo", ["hex", "othello"])
    'othello'
    """
    found = difflib.get_close_matches(word, list(known), 1, cutoff)
    return found[0] if found else None


def suggest(word: str, known: Iterable[str], *, listed: str = "there are") -> str:
    """Return a hint for an unknown word: the closest known one, if one is close, and all of them.

    >>> suggest("othelo", ["hex", "othello"])
    'did you mean othello? there are hex, othello'
    >>> suggest("chess", ["hex", "othello"])
    'there are hex, othello'
    """
    words = sorted(known)
    close = closest(word, words)
    return f"{f'did you mean {close}? ' if close else ''}{listed} {', '.join(words)}"


def shorten(value: object) -> str:
    """Return a value's repr for a message, at most 200 characters of it.

    >>> shorten([1, 2])
    '[1, 2]'
    """
    try:
        text = repr(value)
    except ValueError:  # an int with more digits than Python prints
        return "a number of thousands of digits"
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}..."


def _message(name: str, what: str, value: object, optional: bool = False) -> str:
    return f"{name} must be {what}{' or None' if optional else ''}, not {shorten(value)}"


def _range(low: float | None, high: float | None = None, above: float | None = None, below: float | None = None) -> str:
    if low is not None and high is not None:
        return f" from {low:,} to {high:,}"
    bounds = {"of at least": low, "above": above, "below": below, "of at most" if above is None else "at most": high}
    found = [f"{words} {bound:,}" for words, bound in bounds.items() if bound is not None]
    return f" {' and '.join(found)}" if found else ""
