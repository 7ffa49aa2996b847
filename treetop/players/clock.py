"""The clock of a game: how much time each player has, and what players are shown of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from treetop import checks
from treetop.errors import ConfigError

_CONTROL = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*(?:\+\s*(\d{1,6}(?:\.\d{1,6})?)\s*)?")


@dataclass(frozen=True)
class TimeControl:
    """The seconds of each player for a game, and what is added after each move.

    >>> TimeControl.of("60+0.5")
    TimeControl(seconds=60.0, increment=0.5)
    >>> str(TimeControl(60, 0.5)), str(TimeControl(10))
    ('60+0.5', '10')
    """

    seconds: float
    increment: float = 0.0

    def __post_init__(self) -> None:
        checks.number("the seconds of a clock", self.seconds, above=0)
        checks.number("the increment of a clock", self.increment, 0)

    @classmethod
    def of(cls, given: str | TimeControl | None) -> TimeControl | None:
        """Return the time control of a text such as `60` or `60+1`; None for none."""
        if given is None or isinstance(given, TimeControl):
            return given
        found = _CONTROL.fullmatch(given) if isinstance(given, str) else None
        if found is None:
            raise ConfigError(
                "a clock must be seconds for a game, or seconds and an increment after each move, as in '60+1'; not "
                f"{checks.shorten(given)}"
            )
        return cls(float(found[1]), float(found[2] or 0))

    def at_start(self, players: int) -> ClockTimes:
        """Return what players are shown before the first move."""
        return ClockTimes((self.seconds,) * players, self.increment)

    def __str__(self) -> str:
        return f"{self.seconds:g}" + (f"+{self.increment:g}" if self.increment else "")


@dataclass(frozen=True)
class ClockTimes:
    """What a player is shown of the clock before a move.

    >>> ClockTimes((10.0, 7.5), 1.0).of_seat(1)
    (7.5, 10.0)
    """

    left: tuple[float, ...]
    """The seconds that each seat has left."""
    increment: float

    def of_seat(self, seat: int) -> tuple[float, float]:
        """Return the seconds of a seat, and the most that another one has."""
        others = [left for other, left in enumerate(self.left) if other != seat]
        return self.left[seat], max(others, default=self.left[seat])


def show_clock(player: Any, times: ClockTimes | None) -> None:
    """Set the attribute `clock` of a player, if it has one."""
    if hasattr(player, "clock"):
        player.clock = times
