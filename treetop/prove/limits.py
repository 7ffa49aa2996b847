"""When a proof search stops. The search itself looks at no clock but this one."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from treetop.errors import ConfigError
from treetop.prove.config import is_number, is_whole


@dataclass(frozen=True)
class ProofLimit:
    """When to stop: any mix, counted from the call that it is given to. The first one reached ends the search."""

    iterations: int | None = None
    attempts: int | None = None
    """Tactics tried on goals."""
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("iterations", "attempts"):
            value = getattr(self, name)
            if value is not None and not is_whole(value, 1):
                raise ConfigError(f"{name} must be a whole number of at least 1, not {value!r}")
        if self.seconds is not None and not (is_number(self.seconds) and 0 < self.seconds < math.inf):
            raise ConfigError(f"seconds must be a positive number, not {self.seconds!r}")
        if self.iterations is self.attempts is self.seconds is None:
            raise ConfigError("a limit needs iterations, attempts or seconds")

    def __str__(self) -> str:
        parts = [
            f"{self.iterations:,} iterations" if self.iterations else "",
            f"{self.attempts:,} attempts" if self.attempts else "",
            f"{self.seconds:g} s" if self.seconds else "",
        ]
        return " or ".join(part for part in parts if part)


class ProofBudget:
    """A limit that has begun to be used."""

    def __init__(self, limit: ProofLimit) -> None:
        self.limit = limit
        self.iterations = 0
        self.attempts = 0
        self._begun = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._begun

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left; None where they are not limited."""
        return None if self.limit.seconds is None else max(0.0, self.limit.seconds - self.elapsed)

    @property
    def spent(self) -> bool:
        """Whether a limit is reached."""
        limit = self.limit
        return bool(
            (limit.iterations is not None and self.iterations >= limit.iterations)
            or (limit.attempts is not None and self.attempts >= limit.attempts)
            or self.seconds_left == 0.0
        )

    def attempts_left(self, under_way: int) -> int | None:
        """How many more may begin, where so many are under way; None where they are not limited."""
        return None if self.limit.attempts is None else max(0, self.limit.attempts - self.attempts - under_way)
