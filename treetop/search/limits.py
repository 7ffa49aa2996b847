"""The limits of a search. The time of compiling does not count."""

from __future__ import annotations

from dataclasses import dataclass

from treetop import checks
from treetop.compiler.preparing import thinking_clock
from treetop.errors import ConfigError

_SLICE_SECONDS = 0.005  # a kernel runs this long between two checks of clocks, callbacks and Ctrl-C
MOST_WORKERS = 4096
_FIRST_SLICE = 64
_STALLED = 100_000  # after so many simulations without a new node, a limit in nodes will never be reached


@dataclass(frozen=True)
class Limit:
    """When to stop: any combination of limits, each counted from the call that gets them.

    The first one reached stops the search.

    >>> import treetop as tt
    >>> tt.Search("tic_tac_toe", seed=1).run(tt.Limit(simulations=100, seconds=10.0)).simulations
    100
    """

    simulations: int | None = None
    seconds: float | None = None
    nodes: int | None = None
    """Nodes that this call may add to the tree. It also ends a search whose tree no longer grows."""
    cost: float | None = None
    """The total cost of remote evaluations, in the evaluator's own unit. The evaluation that exceeds it is the last."""
    calls: int | None = None
    """Remote evaluations that may start; a retry counts when it ends. In a proof search: tactics that may be tried."""

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if not given:
            raise ConfigError("a limit needs simulations, seconds or nodes")
        for name, value in given.items():
            if name in ("seconds", "cost"):
                checks.number(name, value, above=0)
            else:
                checks.whole(name, value, 1)

    def __str__(self) -> str:
        parts = [f"{self.simulations:,} simulations"] if self.simulations else []
        parts += [f"{self.seconds:g} s"] if self.seconds else []
        parts += [f"{self.nodes:,} nodes"] if self.nodes else []
        parts += [f"cost {self.cost:g}"] if self.cost else []
        parts += [f"{self.calls:,} calls"] if self.calls else []
        return " or ".join(parts)


def require_limit(limit: object, method: str) -> None:
    """Raise ConfigError if what a method was given is not a limit.

    >>> require_limit(800, "run")
    Traceback (most recent call last):
        ...
    treetop.errors.ConfigError: run takes a Limit, such as tt.Limit(simulations=800), not 800
    """
    if not isinstance(limit, Limit):
        count = limit if checks.is_whole(limit) and limit > 0 else 1000
        raise ConfigError(f"{method} takes a Limit, such as tt.Limit(simulations={count}), not {checks.shorten(limit)}")


class Budget:
    """A limit in use: it allots slices of simulations until it is reached.

    With `elsewhere`, calls and cost count too.
    """

    def __init__(self, limit: Limit, *, elsewhere: bool = False) -> None:
        if not elsewhere and (limit.cost is not None or limit.calls is not None):
            raise ConfigError("cost and calls are limits of evaluations made elsewhere: use Search.arun or run_remote")
        self.limit = limit
        self.cost, self.calls = 0.0, 0
        self.simulations = 0
        """Simulations that were run."""
        self.nodes = 0
        """Nodes that were added."""
        self._since_growth = 0  # simulations since the tree last grew
        self._clock = thinking_clock()
        self._start = self._clock.now()
        self._slice = _FIRST_SLICE
        self._slice_start = self._start

    @property
    def left(self) -> int | None:
        """Simulations that are left; None without a limit."""
        return None if self.limit.simulations is None else max(0, self.limit.simulations - self.simulations)

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without those of compiling and loading."""
        return self._clock.now() - self._start

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self.limit.seconds is None else max(0.0, self.limit.seconds - self.elapsed)

    @property
    def spent(self) -> bool:
        """Whether a limit is reached."""
        limit = self.limit
        counts: tuple[float, ...] = (self.simulations, self.nodes, self.calls, self.cost)
        used = zip(counts, (limit.simulations, limit.nodes, limit.calls, limit.cost), strict=True)
        return any(most is not None and count >= most for count, most in used) or self.seconds_left == 0.0

    def next_slice(self) -> int:
        """Return how many simulations to run before the next check; 0 when a limit is reached."""
        limit = self.limit
        if limit.nodes is not None and (self.nodes >= limit.nodes or self._since_growth >= _STALLED):
            return 0
        self._slice_start = self._clock.now()
        if limit.seconds is not None and self._slice_start - self._start >= limit.seconds:
            return 0
        left = self._slice if limit.simulations is None else min(self._slice, limit.simulations - self.simulations)
        if limit.nodes is not None:
            left = min(left, 256)  # a slice may add a few nodes a simulation: stay near the bound
        return max(left, 0)

    def spend(self, simulations: int, nodes: int) -> None:
        """Count what was run, and fit the next slice to the measured speed."""
        self.simulations += simulations
        self.nodes += nodes
        self._since_growth = 0 if nodes else self._since_growth + simulations
        seconds = self._clock.now() - self._slice_start
        if simulations and seconds > 0:
            fitting = simulations * _SLICE_SECONDS / seconds
            self._slice = int(min(max(fitting, self._slice / 2, 1), self._slice * 4))
