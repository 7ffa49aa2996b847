"""Evaluations made elsewhere, in coroutines, threads or processes, each with a deadline and retries."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from treetop import checks
from treetop.errors import ConfigError, EvaluationError, GameError, json_value
from treetop.game.lines import users_line
from treetop.search.problems.evaluator import function_of, is_coroutine
from treetop.search.problems.failing import reason_of
from treetop.workers.processes import Processes, ProcessWorker
from treetop.workers.transport import Broken, Died, Done, Raised, Ready
from treetop.workers.units import Unit

_CLEANUP_SECONDS = 5.0  # the time that a cancelled evaluation gets to end
_POLL = 0.005  # seconds between two checks of a process that the event loop cannot wait for


@dataclass(frozen=True)
class Answer:
    """The result of one call: checked numbers, or an error."""

    prior: list[float] | None = None
    values: list[float] = field(default_factory=list)
    cost: float = 0.0
    seconds: float = 0.0
    attempts: int = 1
    error: str | None = None
    note: Any = None
    """The evaluator's note, as JSON values."""
    where: str = ""
    """The line of the user's code that raised the error, if it is known."""


@dataclass(frozen=True)
class Call:
    """An in-flight leaf."""

    number: int
    leaf: int
    state: Any
    """The state to evaluate: that of the leaf, or one drawn after it at a chance node."""
    actions: list[Any]
    name: list[str]
    """Its name in a record."""
    check: Callable[[Any, Any], tuple[list[float] | None, list[float]]] = field(repr=False)
    """Checks a prior and a value."""
    absorb: Callable[[list[float] | None, list[float]], None] = field(repr=False)
    """Absorbs both into the tree."""


@dataclass(frozen=True)
class RemoteOptions:
    """The options of evaluations made elsewhere."""

    in_flight: int = 32
    """The most evaluations at a time."""
    timeout: float | None = None
    """Seconds that one attempt may take."""
    retries: int = 0
    """Further attempts after a failed one."""
    backoff: float = 0.5
    """Seconds before the second attempt; twice as many before the third, and so on."""
    processes: int = 0
    """The number of processes for a plain function; 0: a thread for each call."""

    def __post_init__(self) -> None:
        for name, low in (("in_flight", 1), ("retries", 0), ("processes", 0)):
            checks.whole(name, getattr(self, name), low)
        checks.number("timeout", self.timeout, above=0, unit="seconds", optional=True)
        checks.number("backoff", self.backoff, 0, unit="seconds")


class Source(Protocol):
    """A source of answers."""

    async def open(self) -> None:
        """Prepare the source."""
        ...

    def start(self, call: Call) -> None:
        """Start the evaluation of a leaf."""
        ...

    async def next(self, timeout: float | None) -> tuple[Call, Answer] | None:
        """Return the next answer to absorb; None after `timeout` seconds, or if there are no more."""
        ...

    async def close(self) -> None:
        """Cancel all evaluations."""
        ...


class ElsewhereError(EvaluationError):
    """An exception of an evaluator in another process, with the line of the user's code that raised it."""

    def __init__(self, text: str, *, cost: float = 0.0, note: Any = None, where: str = "") -> None:
        super().__init__(text, cost=cost, note=note)
        self.where = where


class Live:
    """Answers from the evaluator itself, in the order of their arrival."""

    def __init__(self, evaluate: Any, options: RemoteOptions) -> None:
        function = function_of(evaluate)
        self._evaluate, self._opened = evaluate, contextlib.AsyncExitStack()
        self._options = options
        self._pool: ProcessPool | None = None
        self._ask: Callable[[Any, Any], Awaitable[Any]]
        if is_coroutine(function):
            if options.processes:
                raise ConfigError("processes are for plain functions, not for coroutines: leave processes out")
            self._ask = function
        elif options.processes:
            self._pool = ProcessPool(function, options.processes)
            self._ask = self._pool.ask
        else:
            self._ask = lambda state, actions: in_thread(function, state, actions)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready: deque[tuple[Call, Answer]] = deque()
        self._arrived = asyncio.Event()

    async def open(self) -> None:
        """Enter an evaluator that is an async context, such as one with a connection; `close` leaves it."""
        if isinstance(self._evaluate, contextlib.AbstractAsyncContextManager):
            await self._opened.enter_async_context(self._evaluate)

    def start(self, call: Call) -> None:
        """Start an evaluation."""
        task = asyncio.get_running_loop().create_task(self._serve(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, call: Call) -> None:
        clock = asyncio.get_running_loop().time
        started, error, where, cost_so_far = clock(), "", "", 0.0
        for attempt in range(1, self._options.retries + 2):
            note: Any = None
            try:
                given = await asyncio.wait_for(self._ask(call.state, list(call.actions)), self._options.timeout)
                prior, values, cost, note = _parts(given)
                cost_so_far += cost
                answer = Answer(*call.check(prior, values), cost_so_far, clock() - started, attempt, note=note)
                break
            except TimeoutError:
                error = f"it took longer than {self._options.timeout:g} s" if self._options.timeout else "TimeoutError"
                where = ""
            except Exception as failure:  # noqa: BLE001 - any error of an evaluator is the error of this call
                error, where = reason_of(failure), users_line(failure)
                if isinstance(failure, ElsewhereError):
                    error, where = str(failure), failure.where
                if isinstance(failure, EvaluationError):
                    cost_so_far, note = cost_so_far + failure.cost, failure.note
            seconds = clock() - started
            answer = Answer(cost=cost_so_far, seconds=seconds, attempts=attempt, error=error, note=note, where=where)
            if attempt <= self._options.retries:
                await asyncio.sleep(self._options.backoff * 2 ** (attempt - 1))
        self._ready.append((call, answer))
        self._arrived.set()

    async def next(self, timeout: float | None) -> tuple[Call, Answer] | None:
        """Return the next answer; None after `timeout` seconds."""
        if not self._ready:
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), timeout)
        return self._ready.popleft() if self._ready else None

    async def close(self) -> None:
        """Cancel all evaluations and wait for their end."""
        async with self._opened:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=_CLEANUP_SECONDS)
            if self._pool is not None:
                self._pool.close()


def _parts(given: Any) -> tuple[Any, Any, float, Any]:
    """Return the prior, value, cost and note of an evaluator's answer."""
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3, 4):
        raise GameError(
            "an evaluator must return (prior, value), (prior, value, cost) or (prior, value, cost, note), "
            f"not {given!r}"
        )
    cost = given[2] if len(given) > 2 else 0.0
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0.0 <= cost < math.inf:
        raise GameError(f"a cost must be a finite number of at least 0, not {cost!r}")
    return given[0], given[1], float(cost), json_value(given[3]) if len(given) == 4 else None


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a thread of its own.

    A thread that is no longer awaited continues, but does not block the exit.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def finish(value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result(value) if error is None else future.set_exception(error)

    def work() -> None:
        value: Any = None
        failure: Exception | None = None
        try:
            value = function(*args)
        except StopIteration as error:  # a future cannot hold it
            failure = RuntimeError(reason_of(error))
            failure.__cause__ = error
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            failure = error if isinstance(error, Exception) else RuntimeError(reason_of(error))
        with contextlib.suppress(RuntimeError):  # the loop may be closed
            loop.call_soon_threadsafe(finish, value, failure)

    threading.Thread(target=work, daemon=True, name="treetop evaluation").start()
    return await future


class ProcessPool:
    """Processes that evaluate. A process that takes too long, or whose call is cancelled, is ended and replaced."""

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self._transport = Processes(return_function, (function,))
        self._free: list[ProcessWorker] = []
        self._busy: set[ProcessWorker] = set()
        self._slots = asyncio.Semaphore(count)
        self._calls = 0

    async def ask(self, state: Any, actions: Any) -> Any:
        """Return the function's result for a state, computed in one of the processes."""
        async with self._slots:
            worker = self._free.pop() if self._free else None
            fresh = worker is None
            worker = self._transport.start() if worker is None else worker
            self._busy.add(worker)
            kept = False
            try:
                if fresh:
                    message = await self._receive(worker)
                    if isinstance(message, (Broken, Died)):
                        raise RuntimeError(f"a process could not be started: {message.reason}")
                    assert isinstance(message, Ready)
                self._calls += 1
                worker.send(Unit(f"evaluation {self._calls}", (state, actions)))
                message = await self._receive(worker)
                kept = isinstance(message, (Done, Raised))
                if isinstance(message, Done):
                    if isinstance(message.value, ElsewhereError):
                        raise message.value
                    return message.value
                raise RuntimeError(getattr(message, "reason", "the process gave no reason"))
            finally:
                self._busy.discard(worker)
                if kept:
                    self._free.append(worker)
                else:
                    worker.end()

    async def _receive(self, worker: ProcessWorker) -> Any:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        watched: list[Any] = []
        try:
            for sign in worker.signs:
                loop.add_reader(sign, ready.set)
                watched.append(sign)
            await ready.wait()
        except NotImplementedError:
            while not self._transport.wait([worker], 0.0):
                await asyncio.sleep(_POLL)
        finally:
            for sign in watched:
                loop.remove_reader(sign)
        return worker.receive()

    def close(self) -> None:
        """End the idle processes; the others end with their calls."""
        while self._free:
            self._free.pop().end()


def return_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with which a process is started: the evaluator, whose errors are returned."""
    return functools.partial(_evaluate, function)


def _evaluate(function: Callable[..., Any], state: Any, actions: Any) -> Any:
    """Return an evaluator's answer, or its error as one that can be sent to another process."""
    try:
        return function(state, actions)
    except Exception as error:  # noqa: BLE001 - raised again by the process that asked
        cost, note = (error.cost, error.note) if isinstance(error, EvaluationError) else (0.0, None)
        return ElsewhereError(reason_of(error), cost=cost, note=note, where=users_line(error))
