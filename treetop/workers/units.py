"""What is worked on: named units that do not know of each other, and what became of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from treetop.errors import ConfigError, TreetopError


class WorkerError(TreetopError):
    """The workers as a whole cannot go on: they could not be set up, or died before they were ready."""


class Failure(StrEnum):
    """Why a unit has no value."""

    raised = "raised"
    """Its function raised an exception."""
    deadline = "deadline"
    """It took longer than allowed, and its worker was killed."""
    died = "died"
    """Its worker died, each time that it was tried."""


@dataclass(frozen=True)
class Unit:
    """A piece of work with a name. Doing it twice gives the same value, so a lost one is simply done again."""

    id: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of a unit: a value, or why there is none."""

    unit: Unit
    value: Any = None
    failure: Failure | None = None
    reason: str = ""
    """For people: one line, why it failed."""
    traceback: str = ""
    """Where it was raised, if it was."""
    attempts: int = 1

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.failure is None


Setup = str | Callable[..., Callable[..., Any]]
"""What a worker calls once: it returns the function that does the units. `module:function`, or a function of a module."""


def resolve(reference: str | Callable[..., Any]) -> Callable[..., Any]:
    """The function that `module:function` names."""
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
