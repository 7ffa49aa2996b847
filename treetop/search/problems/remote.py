"""A search whose evaluations are made elsewhere, many at once: begun, absorbed as they come, given up when time is over.

The loop is the same for live answers and for recorded ones: fill up, wait for one answer, absorb it, fill up again. A leaf in flight is
counted on its path and nowhere in the value sums: letting go of it leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treetop.errors import ConfigError, SaveError
from treetop.kernels.problem import BUSY, CLOSED, END, FULL, TOO_DEEP
from treetop.search.limits import Budget, Limit, Pulse
from treetop.search.problems.calls import Answer, Call, Live, RemoteOptions, Source
from treetop.search.problems.evaluator import NoValueError
from treetop.search.problems.explorer import reason_of, where_of
from treetop.search.problems.outcomes import NOTHING_OPEN, LoggedCall
from treetop.search.problems.problem import ProblemError
from treetop.search.problems.recording import Recorder, Replay
from treetop.types import CHANCE, ROOT

if TYPE_CHECKING:
    from treetop.search.problems.driver import ProblemDriver
    from treetop.search.session import Session

_LOOK_UP = 0.1  # seconds between two looks at Ctrl-C while everybody waits
_CHUNK = 256  # simulations that need no evaluation, between two looks at the limit
_BARREN = 100_000  # such simulations in a row, after which no further evaluation will be needed


class Remote:
    """One run of a search with evaluations made elsewhere."""

    def __init__(
        self,
        session: Session,
        driver: ProblemDriver,
        limit: Limit,
        options: RemoteOptions,
        evaluate: Any,
        record: Path | None,
        replay: Path | None,
        told: Callable[[Budget], object] | None = None,
    ) -> None:
        if driver.config.growth.max_nodes is not None:
            raise ConfigError("a tree with evaluations in flight cannot be folded: leave max_nodes out, or use run")
        if record is not None and replay is not None:
            raise ConfigError("a replay is a record already: give record or replay")
        self._session, self._driver, self._nodes = session, driver, driver.nodes
        self._explorer, self._view = driver.explorer, driver.view
        self._options, self._told, self._pulse = options, told, Pulse(_LOOK_UP)
        header = {
            "problem": self._view.name,
            "config": str(driver.config),
            "seed": driver.seed,
            "in_flight": options.in_flight,
            "limit": str(limit),
            "played": [self._view.text(action) for action in driver.played],
            "simulations": session.simulations,
        }
        self._replay = None if replay is None else Replay(replay, header)
        self._source: Source = Live(evaluate, options) if self._replay is None else self._replay
        self._recorder = None if record is None else Recorder(record, header)
        self._open: dict[int, Call] = {}
        self.log: list[LoggedCall] = []
        """The calls that have ended."""
        self._begun = self._absorbed = self._idle = self._looks = 0
        self._held, self._size = session.simulations, driver.tree.size
        self._interrupts = session._interrupts  # whoever runs the event loop may hold Ctrl-C already
        self.budget = Budget(session._forced(limit, elsewhere=True), elsewhere=True)

    async def run(self) -> str:
        """Search until the limit is reached, Ctrl-C is pressed or nothing is left to do; why it ended. Nothing stays in flight."""
        nodes = self._nodes
        down, after = nodes.expands_down, self._explorer.expand_after
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
            nodes.expand_down(after if down else None)
            nodes.prepare_kernel(in_flight=False)
            try:
                await self._source.close()
            finally:
                if self._recorder is not None:
                    if why:
                        self._recorder.stop(why, self._looks, self._marks)
                    self._recorder.close()
        if self._replay is not None and self._replay.end is not None and self._replay.end["marks"] != self._marks:
            raise SaveError(
                f"the replay did not end as the record did: calls begun, absorbed and simulations are {self._marks}, not "
                f"{self._replay.end['marks']}"
            )
        return why

    @property
    def _marks(self) -> list[int]:
        return [self._begun, self._absorbed, self._done]

    def _expect_priors(self) -> None:
        """Whatever the search's own evaluator is: here a leaf gets its children with its evaluation."""
        nodes, after = self._nodes, self._driver.config.growth.expand_after or 0
        nodes.tree.track_in_flight()
        nodes.prepare_kernel(in_flight=True)
        self._explorer.expand_after = after
        nodes.expand_down(None)
        nodes.begin(0)
        nodes.simulate()  # compiled before any clock runs

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
                return self._after_looks(found)
            self._take(*found)
            if self._told is not None and self._pulse.due() and self._session.simulations:
                self.budget.simulations = self._done
                self._told(self.budget)

    async def _wait(self) -> tuple[Call, Answer] | str:
        """The next answer, or why there will be none. However often the clock is looked at meanwhile, the search does nothing."""
        while True:
            left = self.budget.seconds_left
            found = await self._source.next(
                _LOOK_UP if left is None or self._replay is not None else min(_LOOK_UP, left)
            )
            if found is not None:
                return found
            if self._replay is not None:  # no more answers: it ended here, or was cut off
                return "the record ended" if self._replay.end is None else str(self._replay.end["stopped"])
            if why := self._time_is_over():
                return why

    def _after_looks(self, why: str) -> str:
        """An end that comes by itself, and not at a look at the clock: one look more than there were is none that a replay could end at."""
        self._looks += 1
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
        """Why nothing more shall happen, not even the absorption of what is in flight.

        These looks are counted, and a record tells which of them was the last: a replay ends at the very same one.
        """
        if self._driver.solved and self._session.simulations:
            return self._after_looks("solved")
        self._looks += 1
        if self._replay is None:
            return self._time_is_over()
        end = self._replay.end
        return str(end["stopped"]) if end is not None and end["looks"] == self._looks else None

    def _is_full(self) -> bool:
        """Whether no further evaluation may begin; those in flight are waited for."""
        limit, budget = self.budget.limit, self.budget
        return (
            len(self._open) >= self._options.in_flight
            or (limit.simulations is not None and self._done + len(self._open) >= limit.simulations)
            or (limit.calls is not None and budget.calls >= limit.calls)
            or (limit.cost is not None and budget.cost >= limit.cost)
            or (limit.nodes is not None and self._nodes.tree.size - self._size >= limit.nodes)
        )

    def _fill(self) -> str | None:
        """Begin evaluations until there are enough, or every way leads to a leaf in flight; why the search ends, if it does."""
        self._nodes.sync()
        avoided: list[int] = []
        try:
            while not self._is_full():
                left = self.budget.limit.simulations
                room = None if left is None else left - self._done - len(self._open)
                if not self._session._prepare_root(room) and self._open:
                    return None  # the root itself is on its way
                before = self._done
                found = self._walk(_CHUNK if room is None else min(_CHUNK, room))
                if found >= 0:
                    self._see_to(found)
                    self._idle = 0
                    if self._driver.solved:  # by an end, which nobody was asked about
                        return self._after_looks("solved")
                elif found == BUSY:
                    if self._nodes.node == ROOT or len(avoided) >= self._options.in_flight:
                        break
                    avoided.append(self._nodes.node)
                    self._nodes.count_in_flight(
                        avoided[-1], 1
                    )  # a visit more in flight there, for a moment: others look better then
                elif found == CLOSED and not self._driver.config.solver:
                    raise self._explorer.all_failed()
                elif found == CLOSED or self._driver.solved:
                    return None if self._open else self._after_looks("solved" if self._driver.solved else NOTHING_OPEN)
                else:
                    self._idle += self._done - before
                    if self._idle >= _BARREN:
                        break
                    if why := self._ended():
                        return why
        finally:
            for node in avoided:
                self._nodes.count_in_flight(node, -1)
        return (
            None
            if self._open
            else self._after_looks("the limit was reached" if self._is_full() else "nothing is left to evaluate")
        )

    def _walk(self, budget: int) -> int:
        """Simulate to the next leaf; ends that need no evaluation are settled on the way."""
        nodes = self._nodes
        nodes.begin(budget)
        found = nodes.simulate()
        while found in (FULL, TOO_DEEP):
            nodes.ensure_capacity(0)
            found = nodes.simulate()
        nodes.sync()
        return found

    # One leaf.

    def _see_to(self, leaf: int) -> None:
        """Step to a leaf; ask for its evaluation where it needs one."""
        nodes, explorer = self._nodes, self._explorer
        try:
            looked = explorer.look(leaf)
            if looked is None:
                nodes.begin(0)
                nodes.simulate(END, leaf)
                return
            self._begin(leaf, *looked)
        except BaseException as error:
            if all(call.leaf != leaf for call in self._open.values()):
                self._release(leaf)
            if isinstance(error, ProblemError) or not isinstance(error, Exception):
                raise
            if explorer.evaluate.failed:
                explorer.note_rollouts(leaf)
            if isinstance(error, NoValueError):
                explorer.bury(leaf, "no draw of chance succeeded")
                return
            explorer.bury(
                leaf, reason_of(error), where_of(error)
            )  # whatever the caller's code raises ends this node, and nothing else

    def _release(self, leaf: int) -> None:
        self._nodes.release(leaf)

    def _begin(self, leaf: int, mover: int, actions: list[Any], weights: list[float] | None) -> None:
        view, told = self._view, self._explorer.evaluate.told

        def absorb(prior: list[float] | None, values: list[float]) -> None:
            self._nodes.begin(0)
            self._explorer.take(leaf, mover, actions, weights if prior is None or mover == CHANCE else prior, values)

        state, asked, who = self._nodes.states[leaf], actions, mover
        received: list[float] | None = None
        if mover == CHANCE:  # one outcome is drawn, and what follows it is evaluated
            drawn = self._explorer.draw(state)
            if drawn.value is not None:
                absorb(None, drawn.value)
                return
            state, who, asked, received = drawn.state, drawn.mover, drawn.actions, drawn.received

        def check(prior: Any, value: Any) -> tuple[list[float] | None, list[float]]:
            found, values = told((prior, value), who, asked, state)
            return found, values if received is None else self._explorer.evaluate.with_outcomes(received, values)

        key = view.key(state)
        name = [str(action) for action in self._nodes.path(leaf)] if key is None else [str(key)]
        call = Call(self._begun, leaf, state if view.copy is None else view.copy(state), asked, name, check, absorb)
        self._begun += 1
        self.budget.calls += 1
        self._open[call.number] = call
        self._driver.open_calls = len(self._open)
        self._source.begin(call)

    def _take(self, call: Call, answer: Answer) -> None:
        """Absorb an answer, or bury the leaf that has none."""
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
            self._explorer.bury(call.leaf, f"its evaluation failed: {answer.error}{more}")
            return
        try:
            call.absorb(answer.prior, answer.values)
        except (TypeError, ValueError, IndexError) as error:
            raise SaveError(f"the record's answer to call {call.number} does not fit: {error}") from error
        self._nodes.sync()
