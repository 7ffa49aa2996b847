"""How long a search may go on. Compiling takes no time on its clock."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from treetop.compiler.preparing import thinking_clock
from treetop.errors import ConfigError

_SLICE_SECONDS = 0.005  # a kernel runs this long before clocks, callbacks and Ctrl-C are looked at again
_FIRST_SLICE = 64
_BARREN = 100_000  # simulations without a new node, after which a limit in nodes will never be reached


@dataclass(frozen=True)
class Limit:
    """When to stop: any mix of limits, counted from the call that they are given to. The first one reached stops the search."""

    simulations: int | None = None
    seconds: float | None = None
    nodes: int | None = None
    """Nodes that this call may add to the tree. A tree that has stopped growing reaches it too."""
    cost: float | None = None
    """For evaluations made elsewhere: what they may cost together, in the evaluator's own unit. The one that goes past it is the last."""
    calls: int | None = None
    """For evaluations made elsewhere: how many may begin. Second attempts count too, as soon as they are over.
    In a proof search: how many tactics may be tried."""

    def __post_init__(self) -> None:
        for name in ("simulations", "nodes", "calls"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ConfigError(f"{name} must be a whole number of at least 1, not {value!r}")
        for name in ("seconds", "cost"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (int, float)) and 0 < value < math.inf):
                raise ConfigError(f"{name} must be a positive number, not {value!r}")
        if all(value is None for value in (self.simulations, self.seconds, self.nodes, self.cost, self.calls)):
            raise ConfigError("a limit needs simulations, seconds or nodes")

    def __str__(self) -> str:
        parts = [f"{self.simulations:,} simulations" if self.simulations else "",
                 f"{self.seconds:g} s" if self.seconds else "", f"{self.nodes:,} nodes" if self.nodes else "",
                 f"cost {self.cost:g}" if self.cost else "", f"{self.calls:,} calls" if self.calls else ""]  # fmt: skip
        return " or ".join(part for part in parts if part)


class Budget:
    """A limit that has begun to be used: it hands out slices of simulations until it is spent. `elsewhere`: calls and cost are counted too."""

    def __init__(self, limit: Limit, *, elsewhere: bool = False) -> None:
        if not elsewhere and (limit.cost is not None or limit.calls is not None):
            raise ConfigError(
                "cost and calls limit evaluations that are made elsewhere: Search.arun and run_remote count them"
            )
        self.limit = limit
        self.cost, self.calls = 0.0, 0
        self.simulations = 0
        """How many have been run."""
        self.nodes = 0
        """How many nodes have been added."""
        self._barren = 0  # simulations since the tree last grew
        self._clock = thinking_clock()
        self._start = self._clock.now()
        self._slice = _FIRST_SLICE
        self._slice_start = self._start

    @property
    def left(self) -> int | None:
        """Simulations that the limit still allows; None where it has none."""
        return None if self.limit.simulations is None else max(0, self.limit.simulations - self.simulations)

    @property
    def elapsed(self) -> float:
        """Seconds of thinking since the start: what was compiled or loaded meanwhile does not count."""
        return self._clock.now() - self._start

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the limit still allows; None where it has none."""
        return None if self.limit.seconds is None else max(0.0, self.limit.seconds - self.elapsed)

    @property
    def spent(self) -> bool:
        """Whether a limit is reached."""
        limit = self.limit
        used = ((self.simulations, limit.simulations), (self.nodes, limit.nodes), (self.calls, limit.calls),
                (self.cost, limit.cost))  # fmt: skip
        return any(most is not None and count >= most for count, most in used) or self.seconds_left == 0.0

    def next_slice(self) -> int:
        """How many simulations to run before looking up again; 0 when a limit is reached."""
        limit = self.limit
        if limit.nodes is not None and (self.nodes >= limit.nodes or self._barren >= _BARREN):
            return 0
        self._slice_start = self._clock.now()
        if limit.seconds is not None and self._slice_start - self._start >= limit.seconds:
            return 0
        left = self._slice if limit.simulations is None else min(self._slice, limit.simulations - self.simulations)
        if limit.nodes is not None:
            left = min(left, 256)  # a slice may add a few nodes a simulation: stay near the bound
        return max(left, 0)

    def spend(self, simulations: int, nodes: int) -> None:
        """Account for what was run, and fit the next slice to the speed that was seen."""
        self.simulations += simulations
        self.nodes += nodes
        self._barren = 0 if nodes else self._barren + simulations
        seconds = self._clock.now() - self._slice_start
        if simulations and seconds > 0:
            fitting = simulations * _SLICE_SECONDS / seconds
            self._slice = int(min(max(fitting, self._slice / 2, 1), self._slice * 4))


class Pulse:
    """Lets something happen now and then: true at most once in `interval` seconds."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._next = time.perf_counter() + interval

    def due(self) -> bool:
        """Whether it is time again."""
        now = time.perf_counter()
        if now < self._next:
            return False
        self._next = now + self._interval
        return True
