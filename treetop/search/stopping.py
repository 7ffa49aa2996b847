"""When a search may stop before its limit, and when it may go beyond: policies that look at the root now and then."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError
from treetop.search.limits import Limit
from treetop.types import FloatArray


@dataclass(frozen=True, eq=False)
class Standing:
    """What a policy is shown: the root of the search, and how much of the limit is used. The arrays follow the order of the legal moves."""

    counts: npt.NDArray[np.integer[Any]]
    """Visits of each move, those of earlier runs on the same tree included."""
    means: FloatArray
    """Mean value of each move for the player to move; NaN where nobody was."""
    priors: FloatArray
    simulations: int
    """How many this run has made."""
    limit: Limit
    """What the run was given."""
    elapsed: float
    """Seconds since the run began."""
    final: str = "visits"
    """How the move to play will be chosen: the `final` of the search's settings."""
    lower: FloatArray | None = None
    """Where a solver is on: the least that each move is proven to be worth to the player to move."""
    upper: FloatArray | None = None
    """The most that each move is proven to be worth."""
    factor: float = 1.0
    """How far the limit is stretched at present: see `Stopper.extend`."""

    @property
    def moves(self) -> int:
        """How many legal moves there are."""
        return len(self.counts)

    @property
    def contenders(self) -> npt.NDArray[np.bool_]:
        """The moves that may still be the best: not those that are proven to be worth less than another one."""
        if self.lower is None or self.upper is None or not self.moves:
            return np.ones(self.moves, np.bool_)
        return np.asarray(self.upper >= self.lower.max())

    @property
    def leader(self) -> int | None:
        """The index of the most visited contender; among equals the one of higher value, then the first. None before the first visit."""
        counts = np.where(self.contenders, self.counts, 0)
        if not counts.any():
            return None
        best = np.flatnonzero(counts == counts.max())
        return int(best[np.argmax(self.means[best])])

    @property
    def allowed(self) -> Limit:
        """The limit, stretched by the present factor."""
        return stretched(self.limit, self.factor)

    @property
    def left(self) -> int | None:
        """How many simulations are left of the stretched limit; None where that is unknown.

        Exact for a limit in simulations. For seconds it is an estimate: the rate of this run times the time left. A limit in nodes can
        only make it less. Of several limits the nearest counts.
        """
        allowed, known = self.allowed, []
        if allowed.simulations is not None:
            known.append(allowed.simulations - self.simulations)
        if allowed.seconds is not None and self.simulations > 0 and self.elapsed > 0:
            known.append(math.ceil(self.simulations / self.elapsed * (allowed.seconds - self.elapsed)))
        return max(min(known), 0) if known else None


def stretched(limit: Limit, factor: float) -> Limit:
    """A limit that allows `factor` times as much, rounded down; never less than it was."""
    if factor <= 1.0:
        return limit
    given = {one.name: getattr(limit, one.name) for one in fields(limit) if getattr(limit, one.name) is not None}
    return Limit(**{name: value * factor if name in _REAL else int(value * factor) for name, value in given.items()})


_REAL = ("seconds", "cost")  # limits that are no counts


@runtime_checkable
class Stopper(Protocol):
    """A policy that may stop a search, or stretch its limit. Write your own as a subclass with the methods that you need.

    It judges by what it is shown alone. It may remember what it was shown in the same run; then it serves one search at a time.
    """

    def reset(self) -> None:
        """A new run begins."""

    def check(self, standing: Standing) -> str | None:  # noqa: ARG002 - for subclasses to read
        """The reason to stop now, in words; None to go on."""
        return None

    def extend(self, standing: Standing) -> float:  # noqa: ARG002 - for subclasses to read
        """How many times the limit may be used, as things stand: 1.0 is the limit itself. Asked anew at each look; less is 1.0."""
        return 1.0

    def wait(self, standing: Standing) -> int:
        """After how many more simulations another look is worth its time; not said: a fiftieth of what was run, at least 100.

        The search may look earlier, or a little later.
        """
        return _usual_wait(standing)


@dataclass(frozen=True)
class Decision:
    """What came out of a look at the root."""

    reason: str | None
    """Why to stop now; None to go on."""
    limit: Limit
    """The limit that holds until the next look."""
    wait: int
    """How many simulations to run until then: at least 1, and not beyond the limit where that is known."""


class Together(Stopper):
    """Several policies as one. The longest stretch holds, and the first that has a reason stops the search.

    Those that stop are shown the stretched limit: what cannot be overtaken within the plain limit may be overtaken in a critical position.
    """

    def __init__(self, stoppers: Iterable[Stopper]) -> None:
        self.stoppers = tuple(stoppers)
        for one in self.stoppers:
            if not isinstance(one, Stopper) or isinstance(one, type):
                raise ConfigError(
                    f"a search is stopped by UnassailableLeader(), KLGain() or another object of a subclass of Stopper, not by {one!r}"
                )

    def reset(self) -> None:
        """A new run begins."""
        for one in self.stoppers:
            one.reset()

    def look(self, standing: Standing) -> Decision:
        """Ask all for the limit that holds now, then for a reason to stop within it, and when to look again."""
        shown = self._stretch(standing)
        left = shown.left
        wait = self.wait(shown) if left is None else min(self.wait(shown), left)
        return Decision(self._reason(shown), shown.allowed, max(wait, 1))

    def check(self, standing: Standing) -> str | None:
        """The first reason to stop within the limit as it is stretched now."""
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
        """The longest stretch; at least 1.0."""
        return max([1.0, *(one.extend(standing) for one in self.stoppers)])

    def wait(self, standing: Standing) -> int:
        """The shortest wait."""
        return min((one.wait(standing) for one in self.stoppers), default=_usual_wait(standing))

    def __repr__(self) -> str:
        return f"Together({list(self.stoppers)!r})"


@dataclass(frozen=True)
class UnassailableLeader(Stopper):
    """Stop when no move can overtake the most visited one any more.

    With N1 and N2 the visits of the first and the second move, it stops as soon as

        left * factor < N1 - N2

    A simulation visits one move, so with `factor=1` and a limit in simulations the move that is played is the one that the whole limit would
    have chosen, a solver's later proofs aside. With a limit in seconds `left` is an estimate; a factor above 1 makes up for it. Below 1 it is
    bolder: 0.5 trusts that the second gets no more than half of what is left.

    It knows visits alone, so it is an error where the move is not chosen by them (any `final` but "visits").
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        _positive("factor", self.factor)

    def check(self, standing: Standing) -> str | None:
        """See above. A move without rivals, or whose rivals are all proven to be worse, has won as soon as it was visited."""
        if standing.final != "visits":
            raise ConfigError(
                f"UnassailableLeader is for final='visits'; with final={standing.final!r} the most visited move need not be played"
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
        """Until it could be true at the earliest, if all simulations went to the leader: (left * factor - margin) / (1 + factor), and one more."""
        margin, left = _margin(standing), standing.left
        if margin is None or left is None:
            return _usual_wait(standing)
        return max(1, math.floor((left * self.factor - margin) / (1 + self.factor)) + 1)


def _margin(standing: Standing) -> int | None:
    """By how many visits the leader is ahead of the next contender."""
    leader = standing.leader
    if leader is None:
        return None
    rivals = np.where(standing.contenders, standing.counts, 0)
    rivals[leader] = 0
    return int(standing.counts[leader]) - int(rivals.max())


class KLGain(Stopper):
    """Stop when more simulations hardly change the distribution of the visits.

    At least every `every` visits of the root's moves the distribution p_new is compared with the last one, p_old. With n new visits between
    them, the search stops when

        gain = sum(p_old * ln(p_old / p_new)) / n  <  threshold

    Moves that had no visits count nothing. The gain falls about with the square of the visits, so a threshold is for a certain scale. The default
    ends after one or two thousand simulations, as networks get. For the compiled loop `KLGain(10_000, 1e-8)` is of another: some hundred thousand.
    """

    def __init__(self, every: int = 100, threshold: float = 5e-6) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ConfigError(f"every must be a whole number of at least 1, not {every!r}")
        _positive("threshold", threshold)
        self.every, self.threshold = every, threshold
        self._old: npt.NDArray[np.integer[Any]] | None = None

    def reset(self) -> None:
        """Forget the last distribution."""
        self._old = None

    def check(self, standing: Standing) -> str | None:
        """See above. The first distribution with a visit in it is only remembered."""
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
        return (
            f"the visits have settled: {fresh:,} more moved them by {gain:.2g} nats each, less than {self.threshold:g}"
        )

    def wait(self, standing: Standing) -> int:
        """Until the next distribution is due."""
        if self._old is None:
            return 1 if not standing.counts.any() else self.every
        return max(1, self.every - int(standing.counts.sum()) + int(self._old.sum()))

    def __repr__(self) -> str:
        return f"KLGain(every={self.every}, threshold={self.threshold:g})"


def kl_gain(old: npt.NDArray[np.integer[Any]], new: npt.NDArray[np.integer[Any]]) -> float:
    """The divergence between two distributions of visits, for each visit that is new: `sum(p_old * ln(p_old / p_new)) / n`.

    >>> import numpy as np
    >>> round(kl_gain(np.array([50, 50]), np.array([150, 50])), 6)
    0.001438
    """
    fresh = int(new.sum()) - int(old.sum())
    if fresh <= 0 or not old.any():
        raise ConfigError("a gain is of visits that were added to some others")
    seen = old > 0
    before, after = old[seen] / old.sum(), new[seen] / new.sum()
    return max(0.0, float(np.sum(before * np.log(before / after)))) / fresh


class MoreWhenCritical(Stopper):
    """Give critical positions more: up to `extra` times the limit, for as long as the choice is open.

    The leader is the most visited move; a rival is a move with at least `share` of its visits. A position is critical while

        value(leader) - max(value(rival)) <= margin     the values are close, or a rival's is the better one, or
        the leader changed within the last part `recent` of this run's simulations

    `margin` is in the game's rewards; the default is for rewards from -1 to 1. The question is asked anew at each look, so a search that is over
    its plain limit ends as soon as the choice is clear.
    """

    def __init__(
        self, extra: float = 2.0, margin: float = 0.02, share: float = 0.1, recent: float = 0.2, every: int = 32
    ) -> None:
        _positive("extra", extra)
        if extra < 1.0:
            raise ConfigError(f"extra must be at least 1, not {extra!r}: it is a factor of the limit")
        if not (_is_number(margin) and 0 <= margin < math.inf):
            raise ConfigError(f"margin must be a number of at least 0, not {margin!r}")
        for name, value in (("share", share), ("recent", recent)):
            if not (_is_number(value) and 0 <= value <= 1):
                raise ConfigError(f"{name} must be a number from 0 to 1, not {value!r}")
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ConfigError(f"every must be a whole number of at least 1, not {every!r}")
        self.extra, self.margin, self.share, self.recent, self.every = extra, margin, share, recent, every
        self.reset()

    def reset(self) -> None:
        """Forget who was the leader."""
        self._leader: int | None = None
        self._changed: int | None = None  # at how many simulations of this run the leader changed

    def check(self, standing: Standing) -> str | None:
        """Never stops a search; only looks who leads."""
        self._watch(standing)
        return None

    def extend(self, standing: Standing) -> float:
        """`extra` in a critical position, 1.0 in any other."""
        return self.extra if self.why_critical(standing) else 1.0

    def why_critical(self, standing: Standing) -> str | None:
        """What makes the position critical, in words; None if nothing does. Without a rival nothing does."""
        self._watch(standing)
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
        """A twentieth of what was run, at least `every`."""
        return max(self.every, standing.simulations // 20)

    def _watch(self, standing: Standing) -> None:
        leader = standing.leader
        if leader is None or leader == self._leader:
            return
        if self._leader is not None:
            self._changed = standing.simulations
        self._leader = leader

    def __repr__(self) -> str:
        return f"MoreWhenCritical(extra={self.extra:g}, margin={self.margin:g}, share={self.share:g}, recent={self.recent:g}, every={self.every})"


def _usual_wait(standing: Standing) -> int:
    return max(100, standing.simulations // 50)  # so that looks at a long search cost next to nothing


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _positive(name: str, value: Any) -> None:
    if not (_is_number(value) and 0 < value < math.inf):
        raise ConfigError(f"{name} must be a positive number, not {value!r}")
