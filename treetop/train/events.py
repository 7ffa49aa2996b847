"""The events of a run, and how they are read back: a file may hold anything, so every field is checked."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from treetop.files import parse_json, read_bytes
from treetop.train.acceptance import Accepted
from treetop.train.ratings import Rated

METRICS = "metrics.jsonl"
T = TypeVar("T")
_LARGEST = 1e15  # no count, time or loss of a run is as large


@dataclass(frozen=True)
class Iteration:
    """What an iteration has done: a line of `metrics.jsonl`.

    >>> Iteration(1, 2.5, 40, 300, 7, 0.5, 0.25, 7.5, 0.1, 1.0, 120.0).games
    40
    """

    iteration: int
    seconds: float
    """Seconds of the run so far, all its sessions together."""
    games: int
    positions: int
    """Positions with targets, so far."""
    steps: int
    """Steps of the optimiser, so far."""
    policy_loss: float | None
    """The mean over the steps of this iteration; None if there was none, as in the first one."""
    value_loss: float | None
    length: float
    """The mean number of moves of the games of this iteration."""
    first_player: float
    """The mean return of the first player."""
    entropy: float
    """The mean entropy of the improved policies, in nats."""
    rate: float
    """Positions of self-play a second."""
    resigned: float | None = None
    """The share of the games that were resigned; None in runs in which nobody resigns."""
    false_resignations: float | None = None
    """The share of players who would have resigned a game that was played to the end, and did not lose it; None without
    enough such games."""


Event = Iteration | Rated | Accepted


def read_events(folder: str | Path) -> Iterator[Event]:
    """Yield the events of a run's metrics. A last line that was not written completely is left out.

    >>> list(read_events("no_such_folder"))
    []
    """
    path = Path(folder) / METRICS
    if not path.exists():
        return
    for line in read_bytes(path).decode("utf-8", "replace").splitlines():
        found = read_event(line)
        if found is not None:
            yield found


def read_event(line: str) -> Event | None:
    """Return the event of a line of a run's metrics; None where the line is not complete, or holds something else.

    >>> read_event('{"event": "accepted", "iteration": 3, "seconds": 9.5, "accepted": true, "score": 0.6, "games": 40}')
    Accepted(iteration=3, seconds=9.5, accepted=True, score=0.6, games=40)
    >>> read_event('{"event": "rated", "itera')
    """
    try:
        found = parse_json(line)
        kind: type[Event] = {"iteration": Iteration, "rated": Rated, "accepted": Accepted}[found.pop("event")]
        return checked(kind, found)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def checked(kind: type[T], found: Any) -> T:
    """Return an event with these fields; raise ValueError where one is missing, unknown or of another type.

    Fields that have a default may be missing: they are newer than the file.

    >>> from treetop.train.ratings import Rated
    >>> checked(Rated, {"iteration": 1, "seconds": "soon", "scores": {}})
    Traceback (most recent call last):
    ValueError: 'seconds' has a wrong value: 'soon'
    """
    hints = _hints(kind)  # type: ignore[arg-type]
    for one in fields(kind):  # type: ignore[arg-type]
        if one.name in found:
            if not _fits(found[one.name], hints[one.name]):
                raise ValueError(f"{one.name!r} has a wrong value: {str(found[one.name])[:40]!r}")
        elif one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(f"{one.name!r} is missing")
    unknown = set(found) - set(hints)
    if unknown:
        raise ValueError(f"there is no field {min(unknown)!r}")
    return kind(**found)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _fits(value: Any, hint: Any) -> bool:
    origin, inside = get_origin(hint), get_args(hint)
    if origin is types.UnionType:
        return any(_fits(value, one) for one in inside)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(one, inside[1]) for one in value.values())
    if origin is list:
        return isinstance(value, list) and all(_fits(one, inside[0]) for one in value)
    if hint in (int, float):
        whole = isinstance(value, int) and not isinstance(value, bool)
        number = whole or (hint is float and isinstance(value, float) and math.isfinite(value))
        return number and abs(value) <= _LARGEST
    return value is None if hint is types.NoneType else isinstance(value, hint)
