"""A search with evaluations made elsewhere, many at a time.

The loop is the same for live and for recorded answers: start evaluations, wait for an answer, absorb it, start more. An
in-flight leaf is counted at each node of its path, and in no value sum, so that it can be dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treetop.compiler.preparing import Pulse
from treetop.errors import ConfigError, SaveError
from treetop.game.lines import users_line
from treetop.kernels.problem import BUSY, CLOSED, END, FULL, TOO_DEEP
from treetop.search.limits import Budget, Limit
from treetop.search.problems.calls import Answer, Call, Live, RemoteOptions, Source
from treetop.search.problems.evaluator import NoValueError
from treetop.search.problems.failing import ProblemError, reason_of
from treetop.search.problems.outcomes import NOTHING_OPEN, LoggedCall
from treetop.search.problems.recording import Recorder, Replay
from treetop.types import CHANCE, ROOT

if TYPE_CHECKING:
    from treetop.search.problems.driver import ProblemDriver
    from treetop.search.session import Session

_CHECK_SECONDS = 0.1  # seconds between two checks of Ctrl-C while the search waits
_CHUNK = 256  # simulations without evaluations between two checks of the limit
_IDLE = 100_000  # after so many of them in a row, no further evaluation will be needed


class Remote:
    """A run of a search with evaluations made elsewhere."""

    def __init__(
        self,
        session: Session,
        driver: ProblemDriver,
        limit: Limit,
        options: RemoteOptions,
        evaluate: Any,
        record: Path | None,
        replay: Path | None,
        progress: Callable[[Budget], object] | None = None,
    ) -> None:
        if driver.config.growth.max_nodes is not None:
            raise ConfigError("a tree with evaluations in flight cannot be folded: leave max_nodes out, or use run")
        if record is not None and replay is not None:
            raise ConfigError("record and replay exclude each other: give one of them")
        self._session, self._driver, self._nodes = session, driver, driver.nodes
        self._explorer, self._problem = driver.explorer, driver.checked
        self._options, self._progress, self._pulse = options, progress, Pulse(_CHECK_SECONDS)
        header = {
            "problem": self._problem.name,
            "config": str(driver.config),
            "seed": driver.seed,
            "in_flight": options.in_flight,
            "limit": str(limit),
            "played": [self._problem.text(action) for action in driver.played],
            "simulations": session.simulations,
        }
        self._replay = None if replay is None else Replay(replay, header)
        self._source: Source = Live(evaluate, options) if self._replay is None else self._replay
        self._recorder = None if record is None else Recorder(record, header)
        self._open: dict[int, Call] = {}
        self.log: list[LoggedCall] = []
        """The calls that have ended."""
        self._started = self._absorbed = self._idle = self._checks = 0
        self._held, self._size = session.simulations, driver.tree.size
        self._interrupts = session._interrupts  # run_remote may have set it
        self.budget = Budget(session._forced(limit, elsewhere=True), elsewhere=True)

    async def run(self) -> str:
        """Search until the limit is reached, Ctrl-C is pressed or nothing is left to do; return why it ended.

        No evaluation stays in flight.
        """
        nodes = self._nodes
        down, after = nodes.expands_in_selection, self._explorer.expand_after
        self._expect_priors()
        why = ""
        try:
            await self._source.open()
            self.budget = Budget(self.budget.limit, elsewhere=True)
            why = await self._loop()
        finally:
            for call in self._open.values():
                nodes.release(call.leaf)
            self._open.clear()
            nodes.sync()
            self._driver.open_calls = 0
            self._explorer.expand_after = after
            nodes.expand_in_selection(after if down else None)
            nodes.prepare_kernel(in_flight=False)
            try:
                await self._source.close()
            finally:
                if self._recorder is not None:
                    if why:
                        self._recorder.stop(why, self._checks, self._marks)
                    self._recorder.close()
        if self._replay is not None and self._replay.end is not None and self._replay.end["marks"] != self._marks:
            raise SaveError(
                "the replay did not end as the record did: the calls started, the calls absorbed and the simulations "
                f"are {self._marks}, not {self._replay.end['marks']}"
            )
        return why

    @property
    def _marks(self) -> list[int]:
        return [self._started, self._absorbed, self._done]

    def _expect_priors(self) -> None:
        """Expand leaves with their evaluations, whatever the search's own evaluator is."""
        nodes, after = self._nodes, self._driver.config.growth.expand_after or 0
        nodes.tree.track_in_flight()
        nodes.prepare_kernel(in_flight=True)
        self._explorer.expand_after = after
        nodes.expand_in_selection(None)
        nodes.set_budget(0)
        nodes.simulate()  # compiles before the clock starts

    @property
    def _done(self) -> int:
        return self._session.simulations - self._held

    async def _loop(self) -> str:
        while True:
            why = self._ended() or self._fill()
            if why:
                return why
            found = await self._wait()
            if isinstance(found, str):
                return self._after_checks(found)
            self._absorb(*found)
            if self._progress is not None and self._pulse.due() and self._session.simulations:
                self.budget.simulations = self._done
                self._progress(self.budget)

    async def _wait(self) -> tuple[Call, Answer] | str:
        """Return the next answer, or why there will be none."""
        while True:
            left = self.budget.seconds_left
            found = await self._source.next(
                _CHECK_SECONDS if left is None or self._replay is not None else min(_CHECK_SECONDS, left)
            )
            if found is not None:
                return found
            if self._replay is not None:  # no more answers: the record ends here
                return "the record ended" if self._replay.end is None else str(self._replay.end["stopped"])
            if why := self._time_is_over():
                return why

    def _after_checks(self, why: str) -> str:
        """Return why the search ended without a check; counting one more keeps a replay from ending at the last one."""
        self._checks += 1
        return why

    def _time_is_over(self) -> str | None:
        return (
            "interrupted"
            if self._interrupts.seen
            else "the limit was reached"
            if self.budget.seconds_left == 0.0
            else None
        )

    def _ended(self) -> str | None:
        """Return why the search ends now, without absorbing what is in flight; None to continue.

        These checks are counted, and a record contains the number of the last one, so that a replay ends at the same
        check.
        """
        if self._driver.solved and self._session.simulations:
            return self._after_checks("solved")
        self._checks += 1
        if self._replay is None:
            return self._time_is_over()
        end = self._replay.end
        return str(end["stopped"]) if end is not None and end["looks"] == self._checks else None

    def _is_full(self) -> bool:
        """Return whether no further evaluation may start; those in flight are awaited."""
        limit, budget = self.budget.limit, self.budget
        return (
            len(self._open) >= self._options.in_flight
            or (limit.simulations is not None and self._done + len(self._open) >= limit.simulations)
            or (limit.calls is not None and budget.calls >= limit.calls)
            or (limit.cost is not None and budget.cost >= limit.cost)
            or (limit.nodes is not None and self._nodes.tree.size - self._size >= limit.nodes)
        )

    def _fill(self) -> str | None:
        """Start evaluations until there are enough, or only in-flight leaves are found; return why the search ends.

        Return None if it continues.
        """
        self._nodes.sync()
        avoided: list[int] = []
        try:
            while not self._is_full():
                left = self.budget.limit.simulations
                allowed = None if left is None else left - self._done - len(self._open)
                if not self._session._prepare_root(allowed) and self._open:
                    return None  # the root itself is in flight
                before = self._done
                found = self._select(_CHUNK if allowed is None else min(_CHUNK, allowed))
                if found >= 0:
                    self._process(found)
                    self._idle = 0
                    if self._driver.solved:  # by a terminal state
                        return self._after_checks("solved")
                elif found == BUSY:
                    if self._nodes.node == ROOT or len(avoided) >= self._options.in_flight:
                        break
                    avoided.append(self._nodes.node)
                    self._nodes.count_in_flight(avoided[-1], 1)  # one more in-flight visit, so that others are selected
                elif found == CLOSED and not self._driver.config.solver:
                    raise self._explorer.all_failed()
                elif found == CLOSED or self._driver.solved:
                    return None if self._open else self._after_checks("solved" if self._driver.solved else NOTHING_OPEN)
                else:
                    self._idle += self._done - before
                    if self._idle >= _IDLE:
                        break
                    if why := self._ended():
                        return why
        finally:
            for node in avoided:
                self._nodes.count_in_flight(node, -1)
        return (
            None
            if self._open
            else self._after_checks("the limit was reached" if self._is_full() else "nothing is left to evaluate")
        )

    def _select(self, budget: int) -> int:
        """Run simulations up to the next leaf that needs an evaluation; return it or a code."""
        nodes = self._nodes
        nodes.set_budget(budget)
        found = nodes.simulate()
        while found in (FULL, TOO_DEEP):
            nodes.ensure_capacity(0)
            found = nodes.simulate()
        nodes.sync()
        return found

    # One leaf.

    def _process(self, leaf: int) -> None:
        """Step to a leaf, and start its evaluation if it needs one."""
        nodes, explorer = self._nodes, self._explorer
        try:
            inspected = explorer.inspect(leaf)
            if inspected is None:
                nodes.set_budget(0)
                nodes.simulate(END, leaf)
                return
            self._begin(leaf, *inspected)
        except BaseException as error:
            if all(call.leaf != leaf for call in self._open.values()):
                self._release(leaf)
            if isinstance(error, ProblemError) or not isinstance(error, Exception):
                raise
            if explorer.evaluate.failed:
                explorer.note_rollouts(leaf)
            if isinstance(error, NoValueError):
                explorer.mark_failed(leaf, "no draw of chance succeeded")
                return
            explorer.mark_failed(leaf, reason_of(error), users_line(error))  # the error ends this node only

    def _release(self, leaf: int) -> None:
        self._nodes.release(leaf)

    def _begin(self, leaf: int, mover: int, actions: list[Any], weights: list[float] | None) -> None:
        problem, check_answer = self._problem, self._explorer.evaluate.check_answer

        def absorb(prior: list[float] | None, values: list[float]) -> None:
            self._nodes.set_budget(0)
            self._explorer.absorb(leaf, mover, actions, weights if prior is None or mover == CHANCE else prior, values)

        state, asked, who = self._nodes.states[leaf], actions, mover
        received: list[float] | None = None
        if mover == CHANCE:  # draw an outcome, and evaluate the state after it
            drawn = self._explorer.draw(state)
            if drawn.value is not None:
                absorb(None, drawn.value)
                return
            state, who, asked, received = drawn.state, drawn.mover, drawn.actions, drawn.received

        def check(prior: Any, value: Any) -> tuple[list[float] | None, list[float]]:
            found, values = check_answer((prior, value), who, asked, state)
            return found, values if received is None else self._explorer.evaluate.with_outcomes(received, values)

        key = problem.key(state)
        name = [str(action) for action in self._nodes.path(leaf)] if key is None else [str(key)]
        call = Call(
            self._started, leaf, state if problem.copy is None else problem.copy(state), asked, name, check, absorb
        )
        self._started += 1
        self.budget.calls += 1
        self._open[call.number] = call
        self._driver.open_calls = len(self._open)
        self._source.start(call)

    def _absorb(self, call: Call, answer: Answer) -> None:
        """Absorb an answer, or mark a leaf without one as failed."""
        del self._open[call.number]
        self._driver.open_calls = len(self._open)
        if self._recorder is not None:
            self._recorder.note(call, answer)
        self._absorbed += 1
        self.budget.cost += answer.cost
        self.budget.calls += answer.attempts - 1
        path = (*self._explorer.played, *self._nodes.path(call.leaf))
        self.log.append(LoggedCall(path, answer.cost, answer.seconds, answer.attempts, answer.error, answer.note))
        if answer.error is not None:
            self._release(call.leaf)
            more = f" (the last of {answer.attempts} attempts)" if answer.attempts > 1 else ""
            self._explorer.mark_failed(call.leaf, f"its evaluation failed: {answer.error}{more}", answer.where)
            return
        try:
            call.absorb(answer.prior, answer.values)
        except (TypeError, ValueError, IndexError) as error:
            raise SaveError(f"the record's answer to call {call.number} does not fit: {error}") from error
        self._nodes.sync()
