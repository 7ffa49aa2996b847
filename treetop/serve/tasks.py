"""Work in the background, in turn: many searches share a few threads, each for a slice of time.

Compiled code runs without the interpreter's lock, so the thread that talks to people answers at any time.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol, Self

from treetop.search.limits import Limit
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.search.stopping import Standing, Stopper

_LONGEST, _SHORTEST = 0.05, 0.005  # seconds of a slice
_WHOLE = 10.0  # seconds of a search with a planned root, which runs in one piece
_MOST_PLANNED = 1_000_000  # simulations of a planned root: the plan has a row for each
_REPORTS = 0.1  # the share of a search's time for its reports, which hold up all other searches
_ROUND = 0.25  # seconds in which every task gets a slice, while there are not too many


class Task(Protocol):
    """Work that is done in slices."""

    deadline: float
    """The time of `time.monotonic` at which it must answer."""

    def step(self, seconds: float) -> bool:
        """Work for about so long; return whether there is more to do."""
        ...

    def fail(self, error: BaseException) -> None:
        """Take an error of `step`, which ends the task."""
        ...


class Scheduler:
    """Threads that give slices of time to tasks, in turn; a task whose deadline has come is served first.

    >>> class Count:
    ...     deadline, left = float("inf"), 3
    ...     def step(self, seconds):
    ...         self.left -= 1
    ...         return self.left > 0
    >>> task = Count()
    >>> with Scheduler() as scheduler:
    ...     scheduler.add(task)
    ...     done = scheduler.wait()
    >>> done, task.left
    (True, 0)
    """

    def __init__(self, threads: int = 1) -> None:
        self._waiting: deque[Task] = deque()
        self._running = 0
        self._open = True
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._work, name=f"treetop-search-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return how many tasks are not finished."""
        with self._changed:
            return len(self._waiting) + self._running

    def add(self, task: Task) -> None:
        """Begin a task."""
        with self._changed:
            self._waiting.append(task)
            self._changed.notify()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all tasks are finished; return whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._running, seconds)

    def close(self) -> None:
        """Drop the tasks that are not finished, and end the threads."""
        with self._changed:
            self._open = False
            self._waiting.clear()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            task, seconds = taken
            more = False
            try:
                more = task.step(seconds)
            except BaseException as error:  # noqa: BLE001 - one task must not end the others
                self._report(task, error)
            with self._changed:
                self._running -= 1
                if more and self._open:
                    self._waiting.append(task)
                self._changed.notify_all()

    @staticmethod
    def _report(task: Task, error: BaseException) -> None:
        """Give a task its error; print one that this raises in turn."""
        try:
            task.fail(error)
        except BaseException:  # noqa: BLE001 - the thread goes on with the other tasks
            traceback.print_exc()

    def _take(self) -> tuple[Task, float] | None:
        """Wait for a task; return it with the length of its slice, or None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._open)
            if not self._open:
                return None
            now = time.monotonic()
            task = next((one for one in self._waiting if one.deadline <= now), self._waiting[0])
            self._waiting.remove(task)
            self._running += 1
            fair = _ROUND * len(self._threads) / (len(self._waiting) + self._running)
            return task, min(_LONGEST, max(_SHORTEST, fair))


def slice_limit(search: Search, missing: int | None, seconds: float) -> Limit:
    """Return the limit of a slice. A planned root needs its whole number of simulations, so its slice may be long."""
    if search.config.root.schedules:
        return Limit(simulations=min(missing or 1, _MOST_PLANNED), seconds=_WHOLE)
    return Limit(simulations=missing, seconds=seconds)


class _WhenSet(Stopper):
    """Ends a run when an event is set."""

    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def reset(self) -> None:
        """Start a new run."""

    def check(self, standing: Standing) -> str | None:  # noqa: ARG002
        """Return the reason to stop now."""
        return "stopped" if self._event.is_set() else None


class Thinking:
    """A search in the background. It ends after a number of visits, at a time, or when it is stopped.

    `report` is called with the task, the result and whether it is the last one: every `every` seconds, if given, and at
    the end. `lock` is held during a slice and its report; `allow` is called before each slice; `compiled` is called
    once, after a search has been compiled.
    `failed` is called with the task and an error instead. Both are called by the thread of the search, and must be
    short. They get the task so that they need not refer to it: a cycle would keep the tree in memory.
    """

    def __init__(
        self,
        search: Search,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        report: Callable[[Thinking, SearchResult, bool], None],
        failed: Callable[[Thinking, BaseException], None],
        every: float | None = None,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        lock: AbstractContextManager[object] | None = None,
        allow: Callable[[Search], object] = lambda _: None,
        compiled: Callable[[], object] = lambda: None,
    ) -> None:
        self._allow, self._compiled = allow, compiled
        self._search, self._visits, self._seconds = search, visits, seconds
        self._lock = nullcontext() if lock is None else lock
        self._report, self._failed, self._every = report, failed, every
        self._include, self._exclude = None if include is None else list(include), list(exclude)
        self._next = 0.0  # the time of the next report
        self._stopped, self._cancelled = threading.Event(), False
        self._searched = self._reported = 0.0  # seconds
        self.deadline = 0.0  # it begins at once, since its time counts from then on
        self.started = False

    def stop(self) -> None:
        """End the search soon; its last result is reported."""
        self._stopped.set()
        self.deadline = 0.0

    def end_in(self, seconds: float | None, visits: int | None = None) -> None:
        """Limit the running search: seconds from now on, and visits of the root; None is no limit."""
        if visits is not None:
            self._visits = visits
        if seconds is not None and not self._stopped.is_set():
            self._seconds = seconds
            self.deadline = time.monotonic() + seconds if self.started else 0.0

    def cancel(self) -> None:
        """End the search after its present slice; nothing is reported any more."""
        self._cancelled = True
        self.stop()

    def is_cancelled(self) -> bool:
        """Whether nothing is reported any more."""
        return self._cancelled

    def step(self, seconds: float) -> bool:
        """Search for a slice of time; return whether the search goes on."""
        with self._lock:
            return self._step(seconds)

    def _step(self, seconds: float) -> bool:
        search = self._search
        if self.is_cancelled():
            return False
        if not self.started:
            self._begin()
            if self.is_cancelled():
                return False
        result, over = self._slice(search, seconds)
        if self.is_cancelled():
            return False
        now = time.monotonic()
        if over or (self._every is not None and now >= self._next and self._reported <= _REPORTS * self._searched):
            self._next = now + (self._every or 0.0)
            self._report(self, result, over)
            self._reported += time.monotonic() - now
        return not over

    def _slice(self, search: Search, seconds: float) -> tuple[SearchResult, bool]:
        """Search for a slice; return the result, and whether the search is over."""
        start = time.monotonic()
        if start >= self.deadline and search.simulations:
            return search.result(), True
        self._allow(search)
        # The slice of a planned root may be long.
        stopping = [_WhenSet(self._stopped)] if search.config.root.schedules else []
        result = search.run(self._limit(seconds), stopping=stopping, include=self._include, exclude=self._exclude)
        now = time.monotonic()
        self._searched += now - start
        over = (
            search.config.root.schedules
            or self._stopped.is_set()
            or now >= self.deadline
            or (self._visits is not None and search.simulations >= self._visits)
            or result.usage.stopped_early
            or len(result.numbers) == 1
        )
        return result, over

    def _begin(self) -> None:
        """Compile what is needed; the clock starts after that."""
        self._search.prepare(advance=False)
        now = time.monotonic()
        self.started, self._next = True, now + (self._every or 0.0)
        if not self._stopped.is_set():
            self.deadline = float("inf") if self._seconds is None else now + self._seconds
        if not self.is_cancelled():
            self._compiled()

    def _limit(self, seconds: float) -> Limit:
        """Return the limit of a slice: at least one simulation, so that there is a result."""
        left = None if self._visits is None else max(1, self._visits - self._search.simulations)
        until = self.deadline - time.monotonic()
        if until <= 0.0 and self._search.simulations == 0:
            return Limit(simulations=1)
        limit = slice_limit(self._search, left, seconds)
        return replace(limit, seconds=max(0.001, min(limit.seconds or seconds, until)))

    def fail(self, error: BaseException) -> None:
        """Report an error of the search."""
        with self._lock:
            self._failed(self, error)
