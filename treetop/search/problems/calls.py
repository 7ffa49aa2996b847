"""Evaluations that are made elsewhere: coroutines, threads or processes, each with its deadline and its second attempts."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from treetop.errors import ConfigError, EvaluationError, GameError, json_value
from treetop.search.problems.evaluator import is_coroutine
from treetop.workers.processes import Processes, ProcessWorker
from treetop.workers.transport import Broken, Died, Done, Raised, Ready
from treetop.workers.units import Unit

_PATIENCE = 5.0  # seconds that a cancelled evaluation gets to put things in order
_POLL = 0.005  # seconds between two looks at a process, where the event loop cannot watch it


@dataclass(frozen=True)
class Answer:
    """What became of one call: checked numbers, or why there are none."""

    prior: list[float] | None = None
    values: list[float] = field(default_factory=list)
    cost: float = 0.0
    seconds: float = 0.0
    attempts: int = 1
    error: str | None = None
    note: Any = None
    """What the evaluator wants to be remembered of it, as JSON holds it."""


@dataclass(frozen=True)
class Call:
    """A leaf on its way."""

    number: int
    leaf: int
    state: Any
    """What the evaluator is asked about: the leaf's state, or one drawn after it where chance decides."""
    actions: list[Any]
    name: list[str]
    """How a record names it."""
    check: Callable[[Any, Any], tuple[list[float] | None, list[float]]] = field(repr=False)
    """Checks a prior and a value."""
    absorb: Callable[[list[float] | None, list[float]], None] = field(repr=False)
    """Takes both into the tree."""


@dataclass(frozen=True)
class RemoteOptions:
    """How evaluations are made elsewhere."""

    in_flight: int = 32
    """Evaluations under way at once."""
    timeout: float | None = None
    """Seconds that one attempt may take."""
    retries: int = 0
    """Further attempts after one that failed."""
    backoff: float = 0.5
    """Seconds before the second attempt; twice as many before the third, and so on."""
    processes: int = 0
    """So many processes for a plain function; 0: a thread for each call."""

    def __post_init__(self) -> None:
        for name, low in (("in_flight", 1), ("retries", 0), ("processes", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise ConfigError(f"{name} must be a whole number of at least {low}, not {value!r}")
        for name, value in (("timeout", self.timeout), ("backoff", self.backoff)):
            if value is not None and not (
                isinstance(value, (int, float)) and 0 <= value < math.inf and (value > 0 or name == "backoff")
            ):
                raise ConfigError(f"{name} must be a positive number of seconds, not {value!r}")


class Source(Protocol):
    """Where answers come from."""

    async def open(self) -> None:
        """Get ready."""
        ...

    def begin(self, call: Call) -> None:
        """Ask for a leaf's evaluation."""
        ...

    async def next(self, timeout: float | None) -> tuple[Call, Answer] | None:
        """The next answer, in the order in which they are to be absorbed; None after so many seconds, or where there are no more."""
        ...

    async def close(self) -> None:
        """Give up whatever is under way."""
        ...


class Live:
    """Answers from the evaluator itself, as they come."""

    def __init__(self, evaluate: Any, options: RemoteOptions) -> None:
        function = evaluate.evaluate if callable(getattr(evaluate, "evaluate", None)) else evaluate
        if not callable(function):
            raise ConfigError(
                f"an evaluator is a function of a state and its actions, or has a method evaluate(state, actions); not {evaluate!r}"
            )
        self._evaluate, self._opened = evaluate, contextlib.AsyncExitStack()
        self._options = options
        self._seats: Seats | None = None
        self._ask: Callable[[Any, Any], Awaitable[Any]]
        if is_coroutine(function):
            if options.processes:
                raise ConfigError("a coroutine runs where the search does: processes are for plain functions")
            self._ask = function
        elif options.processes:
            self._seats = Seats(function, options.processes)
            self._ask = self._seats.ask
        else:
            self._ask = lambda state, actions: in_thread(function, state, actions)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready: deque[tuple[Call, Answer]] = deque()
        self._bell = asyncio.Event()

    async def open(self) -> None:
        """An evaluator that is an async context, such as one with a connection, is entered; `close` leaves it."""
        if isinstance(self._evaluate, contextlib.AbstractAsyncContextManager):
            await self._opened.enter_async_context(self._evaluate)

    def begin(self, call: Call) -> None:
        """Start an evaluation."""
        task = asyncio.get_running_loop().create_task(self._serve(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, call: Call) -> None:
        clock = asyncio.get_running_loop().time
        begun, error, paid = clock(), "", 0.0
        for attempt in range(1, self._options.retries + 2):
            note: Any = None
            try:
                told = await asyncio.wait_for(self._ask(call.state, list(call.actions)), self._options.timeout)
                prior, values, cost, note = _parts(told)
                paid += cost
                weights, worth = call.check(prior, values)
                answer = Answer(weights, worth, paid, clock() - begun, attempt, note=note)
                break
            except TimeoutError:
                error = f"it took longer than {self._options.timeout:g} s" if self._options.timeout else "TimeoutError"
            except Exception as failure:  # noqa: BLE001 - whatever an evaluator raises is this call's failure, and is told
                error = f"{type(failure).__name__}: {failure}"
                if isinstance(failure, EvaluationError):
                    paid, note = paid + failure.cost, failure.note
            answer = Answer(cost=paid, seconds=clock() - begun, attempts=attempt, error=error, note=note)
            if attempt <= self._options.retries:
                await asyncio.sleep(self._options.backoff * 2 ** (attempt - 1))
        self._ready.append((call, answer))
        self._bell.set()

    async def next(self, timeout: float | None) -> tuple[Call, Answer] | None:
        """The next answer, as they come."""
        if not self._ready:
            self._bell.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._bell.wait(), timeout)
        return self._ready.popleft() if self._ready else None

    async def close(self) -> None:
        """Cancel all that is under way and wait for its end."""
        async with self._opened:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=_PATIENCE)
            if self._seats is not None:
                self._seats.close()


def _parts(told: Any) -> tuple[Any, Any, float, Any]:
    """Prior, value, cost and note of an evaluator's answer."""
    if not isinstance(told, (tuple, list)) or len(told) not in (2, 3, 4):
        raise GameError(
            f"an evaluator gives (prior, value), (prior, value, cost) or (prior, value, cost, note), not {told!r}"
        )
    cost = told[2] if len(told) > 2 else 0.0
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0.0 <= cost < math.inf:
        raise GameError(f"a cost is a finite number of at least 0, not {cost!r}")
    return told[0], told[1], float(cost), json_value(told[3]) if len(told) == 4 else None


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a thread of its own. One that nobody waits for any more may go on, but keeps nobody from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result(value) if error is None else future.set_exception(error)

    def work() -> None:
        value: Any = None
        failure: Exception | None = None
        try:
            value = function(*args)
        except StopIteration as error:  # which no future can hold
            failure = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:  # noqa: BLE001 - it goes to whoever waits
            failure = error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
        with contextlib.suppress(RuntimeError):  # the loop may be gone
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=work, daemon=True, name="treetop evaluation").start()
    return await future


class Seats:
    """Processes that evaluate. One that takes too long, or whose call is given up, is ended and replaced."""

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self._transport = Processes(hand_over, (function,))
        self._free: list[ProcessWorker] = []
        self._busy: set[ProcessWorker] = set()
        self._room = asyncio.Semaphore(count)
        self._calls = 0

    async def ask(self, state: Any, actions: Any) -> Any:
        """What the function says of a state, in one of the processes."""
        async with self._room:
            worker = self._free.pop() if self._free else None
            fresh = worker is None
            worker = self._transport.start() if worker is None else worker
            self._busy.add(worker)
            kept = False
            try:
                if fresh:
                    message = await self._hear(worker)
                    if isinstance(message, (Broken, Died)):
                        raise RuntimeError(f"a process could not be set up: {message.reason}")
                    assert isinstance(message, Ready)
                self._calls += 1
                worker.send(Unit(f"evaluation {self._calls}", (state, actions)))
                message = await self._hear(worker)
                kept = isinstance(message, (Done, Raised))
                if isinstance(message, Done):
                    return message.value
                raise RuntimeError(getattr(message, "reason", "it said nothing"))
            finally:
                self._busy.discard(worker)
                if kept:
                    self._free.append(worker)
                else:
                    worker.end()

    async def _hear(self, worker: ProcessWorker) -> Any:
        loop = asyncio.get_running_loop()
        spoke = asyncio.Event()
        watched: list[Any] = []
        try:
            for sign in worker.signs:
                loop.add_reader(sign, spoke.set)
                watched.append(sign)
            await spoke.wait()
        except NotImplementedError:
            while not self._transport.wait([worker], 0.0):
                await asyncio.sleep(_POLL)
        finally:
            for sign in watched:
                loop.remove_reader(sign)
        return worker.receive()

    def close(self) -> None:
        """End the processes that wait; the others end with their calls."""
        while self._free:
            self._free.pop().end()


def hand_over(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a process is set up with: the evaluator itself."""
    return function
