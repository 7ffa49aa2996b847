"""Searches for one request: a few slices at a time by the scheduler, while the request waits for the result."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, Generic, TypeVar

from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.serve.limits import TooSlowError
from treetop.serve.nodes import Nodes
from treetop.serve.recording import Recorder
from treetop.serve.tasks import slice_limit
from treetop.serve.whatif import described, rule_choices

PIECE = 0.02
"""Seconds between two points at which a job can be interrupted."""
_Result = TypeVar("_Result")
Steps = Generator[None, None, _Result]
"""Work that can be interrupted at each `yield`, and returns its result."""


class Job(Generic[_Result]):
    """A task of the scheduler with a result.

    >>> from treetop.serve.tasks import Scheduler
    >>> def count():
    ...     for _ in range(3):
    ...         yield
    ...     return "done"
    >>> with Scheduler() as scheduler:
    ...     job = Job(count())
    ...     scheduler.add(job)
    ...     found = job.future.result(10)
    >>> found
    'done'
    """

    def __init__(self, steps: Steps[_Result]) -> None:
        self._steps = steps
        self.future: Future[_Result] = Future()
        """The result. If it is set or cancelled from outside, the job ends at its next step."""
        self.deadline = math.inf

    def step(self, seconds: float) -> bool:
        """Work for about so long; return whether there is more to do."""
        end = time.monotonic() + seconds
        try:
            while not self.future.done():
                next(self._steps)
                if time.monotonic() >= end:
                    return True
            self._steps.close()
        except StopIteration as ended:
            with suppress(InvalidStateError):
                self.future.set_result(ended.value)
        return False

    def fail(self, error: BaseException) -> None:
        """End with an error."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)

    async def result(self, seconds: float) -> _Result:
        """Wait for the result; raise TooSlowError, and end the job, where it takes longer."""
        try:
            return await asyncio.wait_for(asyncio.wrap_future(self.future), seconds)
        except TimeoutError:
            raise TooSlowError(f"the search took more than {seconds:g} s: ask for fewer visits") from None


def slices(search: Search, visits: int, nodes: Nodes) -> Steps[SearchResult]:
    """Search until the root has `visits` visits; return the result."""
    while True:
        nodes.allow(search)
        before, missing = search.simulations, max(1, visits - search.simulations)
        result = search.run(slice_limit(search, missing, PIECE))
        if search.config.root.schedules or result.usage.stopped_early or search.simulations >= visits:
            return result
        if search.simulations == before or len(result.numbers) == 1:  # nothing more to search
            return result
        yield


def searched(search: Search, visits: int, nodes: Nodes) -> Steps[SearchResult]:
    """Search until the root has `visits` visits, and give the nodes back; return the result."""
    try:
        return (yield from slices(search, visits, nodes))
    finally:
        nodes.release(search)


def recorded(search: Search, visits: int, detailed: int, nodes: Nodes) -> Steps[dict[str, Any]]:
    """Record a search; return what happened."""
    recorder = Recorder(search, visits=visits, detailed=detailed)
    try:
        nodes.allow(search)
        while recorder.step(PIECE):
            yield
            nodes.allow(search)
        return recorder.to_dict()
    finally:
        nodes.release(search)


def compared(
    make: Callable[[int], tuple[Search, dict[str, Any]]], seeds: int, visits: int, nodes: Nodes
) -> Steps[dict[str, Any]]:
    """Search with several seeds; return the moves that are chosen, and how many of them are the same.

    `make` returns the search of a seed, and its settings.
    """
    found, known, position = list[dict[str, Any]](), dict[str, Any](), None
    for seed in range(seeds):
        search, known = make(seed)
        position = search.position
        found.append(described((yield from searched(search, visits, nodes)), known["final"]))
    same = sum(one["move"] == found[0]["move"] for one in found)
    rules = [] if position is None else rule_choices(position)
    return {
        "searches": found, "move": found[0]["move"], "same": same, "of": len(found), "settings": known, "rules": rules,
    }  # fmt: skip


def together(make: Callable[[int], Search], players: Sequence[int], visits: int, nodes: Nodes) -> Steps[dict[int, int]]:
    """Search for several players who move simultaneously; return the action of each."""
    found = {}
    for player in players:
        result = yield from searched(make(player), visits, nodes)
        found[player] = int(result.action)
    return found
