"""Stopping rules: they may stop a search before its limit, or extend the limit, by the statistics of the root."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from treetop import checks
from treetop.errors import ConfigError
from treetop.search.limits import Limit
from treetop.types import FloatArray


@dataclass(frozen=True, eq=False)
class Standing:
    """The root of a search and the use of its limit, for stopping rules. Arrays follow the order of the legal moves.

    >>> values, priors = np.array([0.2, 0.1]), np.array([0.5, 0.5])
    >>> standing = Standing(np.array([70, 30]), values, priors, 100, Limit(simulations=120), elapsed=1.0)
    >>> standing.leader, standing.left
    (0, 20)
    """

    counts: npt.NDArray[np.integer[Any]]
    """Visits of each move, including those of earlier runs on the same tree."""
    means: FloatArray
    """Mean value of each move for the player to move; NaN without visits."""
    priors: FloatArray
    simulations: int
    """Simulations of this run."""
    limit: Limit
    """The limit of this run."""
    elapsed: float
    """Seconds since the start of this run."""
    final: str = "visits"
    """The final rule of the search."""
    lower: FloatArray | None = None
    """With a solver: the proven least value of each move for the player to move."""
    upper: FloatArray | None = None
    """The proven greatest value of each move."""
    factor: float = 1.0
    """The factor by which the limit is extended now: see `Stopper.extend`."""

    @property
    def moves(self) -> int:
        """The number of legal moves."""
        return len(self.counts)

    @property
    def contenders(self) -> npt.NDArray[np.bool_]:
        """The moves that may be best: all but those that are proven to be worse than another one."""
        if self.lower is None or self.upper is None or not self.moves:
            return np.ones(self.moves, np.bool_)
        return np.asarray(self.upper >= self.lower.max())

    @property
    def leader(self) -> int | None:
        """The index of the most visited contender; None without visits.

        Ties go to the higher value, then to the first.
        """
        counts = np.where(self.contenders, self.counts, 0)
        if not counts.any():
            return None
        best = np.flatnonzero(counts == counts.max())
        return int(best[np.argmax(self.means[best])])

    @property
    def allowed(self) -> Limit:
        """The limit, extended by the current factor."""
        return stretched(self.limit, self.factor)

    @property
    def left(self) -> int | None:
        """Simulations that are left of the extended limit; None where that is unknown.

        The number is exact for a limit in simulations. For seconds it is an estimate: the rate of this run times the
        seconds left. A limit in nodes is ignored. Of several limits the nearest counts.
        """
        allowed, known = self.allowed, []
        if allowed.simulations is not None:
            known.append(allowed.simulations - self.simulations)
        if allowed.seconds is not None and self.simulations > 0 and self.elapsed > 0:
            known.append(math.ceil(self.simulations / self.elapsed * (allowed.seconds - self.elapsed)))
        return max(min(known), 0) if known else None


def stretched(limit: Limit, factor: float) -> Limit:
    """Return a limit that allows `factor` times as much, rounded down; the same limit for a factor of at most 1."""
    if factor <= 1.0:
        return limit
    given = {one.name: getattr(limit, one.name) for one in fields(limit) if getattr(limit, one.name) is not None}
    return Limit(**{name: value * factor if name in _REAL else int(value * factor) for name, value in given.items()})


_REAL = ("seconds", "cost")  # limits that are not counts


@runtime_checkable
class Stopper(Protocol):
    """A stopping rule, which may stop a search or extend its limit: a subclass with the methods that it needs.

    It may keep what it was given in the same run; then it serves one search at a time.

    >>> import treetop as tt
    >>> class Certain(tt.stopping.Stopper):
    ...     def check(self, standing):
    ...         return "one move has 90% of the visits" if standing.counts.max() > 0.9 * standing.counts.sum() else None
    >>> tt.Search("nim(stones=5)", seed=1).run(tt.Limit(simulations=50_000), stopping=[Certain()]).simulations < 50_000
    True
    """

    def reset(self) -> None:
        """Start a new run."""

    def check(self, standing: Standing) -> str | None:  # noqa: ARG002
        """Return the reason to stop now, or None to continue."""
        return None

    def extend(self, standing: Standing) -> float:  # noqa: ARG002
        """Return the current factor of the limit: 1.0 is the limit itself, and less counts as 1.0.

        It is called before each `check`.
        """
        return 1.0

    def wait(self, standing: Standing) -> int:
        """Return after how many more simulations to check again; default: a fiftieth of those run, at least 100.

        The search may check earlier, or a little later.
        """
        return _default_wait(standing)


@dataclass(frozen=True)
class Decision:
    """The decision of the stopping rules."""

    reason: str | None
    """The reason to stop now; None to continue."""
    limit: Limit
    """The limit until the next check."""
    wait: int
    """Simulations until the next check: at least 1, and not beyond the limit where that is known."""


class Stoppers(Stopper):
    """Several stopping rules as one: the largest factor applies, and the first reason stops the search.

    Reasons are found within the extended limit: a lead that is safe within the plain limit may be lost in a critical
    position.
    """

    def __init__(self, stoppers: Iterable[Stopper]) -> None:
        self.stoppers = tuple(stoppers)
        for one in self.stoppers:
            if not isinstance(one, Stopper) or isinstance(one, type):
                raise ConfigError(
                    "stopping must list UnassailableLeader(), KLGain() or other instances of a subclass of Stopper, "
                    f"not {one!r}"
                )

    def reset(self) -> None:
        """Start a new run."""
        for one in self.stoppers:
            one.reset()

    def decide(self, standing: Standing) -> Decision:
        """Return the limit that applies now, the reason to stop within it, if any, and when to check again."""
        shown = self._stretch(standing)
        left = shown.left
        wait = self.wait(shown) if left is None else min(self.wait(shown), left)
        return Decision(self._reason(shown), shown.allowed, max(wait, 1))

    def check(self, standing: Standing) -> str | None:
        """Return the first reason to stop within the extended limit."""
        return self._reason(self._stretch(standing))

    def _stretch(self, standing: Standing) -> Standing:
        return replace(standing, factor=max(standing.factor, self.extend(standing)))

    def _reason(self, shown: Standing) -> str | None:
        for one in self.stoppers:
            reason = one.check(shown)
            if reason is not None:
                return reason
        return None

    def extend(self, standing: Standing) -> float:
        """Return the largest factor; at least 1.0."""
        return max([1.0, *(one.extend(standing) for one in self.stoppers)])

    def wait(self, standing: Standing) -> int:
        """Return the shortest wait."""
        return min((one.wait(standing) for one in self.stoppers), default=_default_wait(standing))

    def __repr__(self) -> str:
        return f"Stoppers({list(self.stoppers)!r})"


@dataclass(frozen=True)
class UnassailableLeader(Stopper):
    """Stop when no move can overtake the most visited one.

    With N1 and N2 the visits of the first and the second move, it stops as soon as

        left * factor < N1 - N2

    A simulation visits one move, so with `factor=1` and a limit in simulations it plays the move that the whole limit
    would have chosen, unless a solver later proves another one. With a limit in seconds `left` is an estimate, for
    which a factor above 1 compensates. A factor below 1 stops earlier: 0.5 assumes that the second move gets at most
    half of what is left.

    It uses visits alone, so it raises an error with any `final` but "visits".

    >>> import treetop as tt
    >>> search = tt.Search("tic_tac_toe", seed=1)
    >>> search.run(tt.Limit(simulations=5_000), stopping=[tt.stopping.UnassailableLeader()]).simulations < 5_000
    True
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        checks.number("factor", self.factor, above=0)

    def check(self, standing: Standing) -> str | None:
        """Return the reason to stop, or None. A visited move without contenders beside it leads at once."""
        if standing.final != "visits":
            raise ConfigError(
                f"UnassailableLeader is for final='visits': with final={standing.final!r} another move may be played"
            )
        margin, left = _margin(standing), standing.left
        if margin is None:
            return None
        if np.count_nonzero(standing.contenders) == 1:
            return "only one move is left to play" if standing.moves > 1 else "there is only one move"
        if left is None or left * self.factor >= margin:
            return None
        return f"the most visited move is {margin:,} visits ahead, with {left:,} simulations left"

    def wait(self, standing: Standing) -> int:
        """Return the least number of simulations after which the leader can be safe, if it gets all of them.

        That is (left * factor - margin) / (1 + factor), rounded down, plus one.
        """
        margin, left = _margin(standing), standing.left
        if margin is None or left is None:
            return _default_wait(standing)
        return max(1, math.floor((left * self.factor - margin) / (1 + self.factor)) + 1)


def _margin(standing: Standing) -> int | None:
    """Return the lead in visits over the next contender."""
    leader = standing.leader
    if leader is None:
        return None
    rivals = np.where(standing.contenders, standing.counts, 0)
    rivals[leader] = 0
    return int(standing.counts[leader]) - int(rivals.max())


class KLGain(Stopper):
    """Stop when more simulations hardly change the distribution of the visits.

    After every `every` visits of the root's moves the distribution p_new is compared with the last one, p_old. With n
    new visits, the search stops when

        gain = sum(p_old * ln(p_old / p_new)) / n  <  threshold

    Moves without visits in p_old do not count. The gain falls about with the square of the visits, so a threshold fits
    a certain number of them. The default stops after one or two thousand simulations, which suits networks.
    `KLGain(10_000, 1e-8)` suits the compiled loop: it stops after some hundred thousand.

    >>> import treetop as tt
    >>> search = tt.Search("tic_tac_toe", seed=1)
    >>> rule = tt.stopping.KLGain(every=100, threshold=1e-3)
    >>> search.run(tt.Limit(simulations=20_000), stopping=[rule]).simulations < 20_000
    True
    """

    def __init__(self, every: int = 100, threshold: float = 5e-6) -> None:
        self.every = checks.whole("every", every, 1)
        self.threshold = checks.number("threshold", threshold, above=0)
        self._old: npt.NDArray[np.integer[Any]] | None = None

    def reset(self) -> None:
        """Forget the last distribution."""
        self._old = None

    def check(self, standing: Standing) -> str | None:
        """Return the reason to stop, or None. The first distribution with visits is only kept."""
        old, new = self._old, standing.counts
        fits = old is not None and old.shape == new.shape and not (new < old).any()
        if old is None or not fits:
            self._old = new.copy() if new.any() else None
            return None
        fresh = int(new.sum()) - int(old.sum())
        if fresh < self.every:
            return None
        self._old = new.copy()
        gain = kl_gain(old, new)
        if gain >= self.threshold:
            return None
        change = f"{fresh:,} more changed them by {gain:.2g} nats each, less than {self.threshold:g}"
        return f"the visits hardly change: {change}"

    def wait(self, standing: Standing) -> int:
        """Return the visits until the next comparison."""
        if self._old is None:
            return 1 if not standing.counts.any() else self.every
        return max(1, self.every - int(standing.counts.sum()) + int(self._old.sum()))

    def __repr__(self) -> str:
        return f"KLGain(every={self.every}, threshold={self.threshold:g})"


def kl_gain(old: npt.NDArray[np.integer[Any]], new: npt.NDArray[np.integer[Any]]) -> float:
    """Return the divergence between two distributions of visits per new visit: `sum(p_old * ln(p_old / p_new)) / n`.

    >>> import numpy as np
    >>> round(kl_gain(np.array([50, 50]), np.array([150, 50])), 6)
    0.001438
    """
    fresh = int(new.sum()) - int(old.sum())
    if fresh <= 0 or not old.any():
        raise ConfigError("the old distribution must have visits, and the new one more of them")
    visited = old > 0
    before, after = old[visited] / old.sum(), new[visited] / new.sum()
    return max(0.0, float(np.sum(before * np.log(before / after)))) / fresh


class MoreWhenCritical(Stopper):
    """Extend the limit in critical positions, by a factor of up to `extra`.

    The leader is the most visited move; a rival is a move with at least `share` of its visits. A position is critical
    while

        value(leader) - max(value(rival)) <= margin     the values are close, or a rival has the higher one, or
        the leader changed within the last part `recent` of this run's simulations

    `margin` is in the game's rewards; the default is for rewards from -1 to 1. It is checked again and again, so a
    search beyond its plain limit ends as soon as the position is no longer critical.

    >>> import treetop as tt
    >>> search = tt.Search("tic_tac_toe", seed=1)
    >>> search.run(tt.Limit(simulations=500), stopping=[tt.stopping.MoreWhenCritical(margin=2.0)]).simulations
    1000
    """

    def __init__(
        self, extra: float = 2.0, margin: float = 0.02, share: float = 0.1, recent: float = 0.2, every: int = 32
    ) -> None:
        self.extra = checks.number("extra", extra, 1)
        self.margin = checks.number("margin", margin, 0)
        self.share, self.recent = checks.share("share", share), checks.share("recent", recent)
        self.every = checks.whole("every", every, 1)
        self.reset()

    def reset(self) -> None:
        """Forget the leader of the last run."""
        self._leader: int | None = None
        self._changed: int | None = None  # the simulation of this run at which the leader changed

    def check(self, standing: Standing) -> str | None:
        """Return None, after noting the leader: this rule never stops a search."""
        self._note_leader(standing)
        return None

    def extend(self, standing: Standing) -> float:
        """Return `extra` in a critical position, else 1.0."""
        return self.extra if self.why_critical(standing) else 1.0

    def why_critical(self, standing: Standing) -> str | None:
        """Return why the position is critical, or None. A position without a rival is not."""
        self._note_leader(standing)
        leader = standing.leader
        if leader is None or np.count_nonzero(standing.contenders) < 2:
            return None
        rivals = standing.contenders & (standing.counts >= max(1.0, self.share * standing.counts[leader]))
        rivals[leader] = False
        if rivals.any():
            gap = float(standing.means[leader] - standing.means[rivals].max())
            if gap < 0:
                return "the most visited move is not the one of the highest value"
            if gap <= self.margin:
                return f"two moves are close in value: {gap:.4f} apart"
        if self._changed is not None and standing.simulations - self._changed < self.recent * standing.simulations:
            return "the most visited move has just changed"
        return None

    def wait(self, standing: Standing) -> int:
        """Return a twentieth of the simulations run, at least `every`."""
        return max(self.every, standing.simulations // 20)

    def _note_leader(self, standing: Standing) -> None:
        leader = standing.leader
        if leader is None or leader == self._leader:
            return
        if self._leader is not None:
            self._changed = standing.simulations
        self._leader = leader

    def __repr__(self) -> str:
        return (
            f"MoreWhenCritical(extra={self.extra:g}, margin={self.margin:g}, share={self.share:g}, "
            f"recent={self.recent:g}, every={self.every})"
        )


def _default_wait(standing: Standing) -> int:
    return max(100, standing.simulations // 50)  # checks of a long search cost next to nothing
