"""Units of work, which are independent and have ids, and their outcomes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from treetop.errors import ConfigError, TreetopError


class WorkerError(TreetopError):
    """The workers cannot continue: they could not be set up, or died before they were ready."""


class Failure(StrEnum):
    """Why a unit has no value."""

    raised = "raised"
    """Its function raised an exception."""
    deadline = "deadline"
    """It took longer than allowed, and its worker was killed."""
    died = "died"
    """Its worker died each time it was tried."""


@dataclass(frozen=True)
class Unit:
    """A piece of work with an id. Doing it twice gives the same value, so a lost unit is simply done again."""

    id: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a unit: a value, or why there is none."""

    unit: Unit
    value: Any = None
    failure: Failure | None = None
    reason: str = ""
    """Why it failed, in one line."""
    traceback: str = ""
    """The traceback, if an exception was raised."""
    attempts: int = 1

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.failure is None


Setup = str | Callable[..., Callable[..., Any]]
"""A function that each worker calls once and that returns the function that does the units; or its name as
`module:function`.
"""


def resolve(reference: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that `module:function` names."""
    if callable(reference):
        return reference
    module, colon, name = str(reference).rpartition(":")
    if not colon or not module or not name:
        raise ConfigError(f"a function is named as module:function, not {reference!r}")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(f"{reference}: the module {module!r} cannot be imported: {error}") from error
    found = getattr(loaded, name, None)
    if not callable(found):
        raise ConfigError(f"{reference}: {module} has no function {name!r}")
    return found  # type: ignore[no-any-return]
