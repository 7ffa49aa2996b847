"""Coq as a prover: one process at some position in the proof of one lemma, which moves to a goal to try a tactic there.

Coq's document is linear: going back discards what came after. So the path to a goal is replayed from where it leaves
the present one, and the last tactic tried is kept until the next goal is known: often it is the first step of the path.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from treetop import checks
from treetop.errors import ConfigError, ProofFileError, ProverError
from treetop.prove.coq import protocol
from treetop.prove.coq.goals import CoqGoal, Premise
from treetop.prove.coq.process import CoqDied, CoqProcess
from treetop.prove.coq.protocol import Answer, read_goals
from treetop.prove.coq.sentences import Sentence, is_one_tactic, split
from treetop.prove.coq.settings import CoqSettings, LoadPath
from treetop.prove.prover import Attempt, Goal, Place, Step

_PRINTING = "Set Printing All."
_GRACE = 1.0  # seconds in which Coq must react to an interrupt
_LENIENCE = 10.0  # times the limit of a tactic, for checks after it
_AT_ONCE = 0.05  # seconds: no time limit can have been reached
_HURRY = 10.0  # seconds for calls that should return at once
_REASON = 300  # characters
_NO_PROGRESS = "no progress"
_IS_PROPOSITION = (
    "match goal with |- ?G => let S := type of G in let S := eval hnf in S in "
    "match S with Prop => idtac | SProp => idtac end end"
)
_EVAR = re.compile(r"\?[^\W\d]")
_UNCHECKED = re.compile(r"_no_check\b")
_FOUND = re.compile(r"([\w'.]+):\s+(.*)", re.DOTALL)


@dataclass(frozen=True)
class Opening:
    """Everything before a proof."""

    prelude: tuple[Sentence, ...]
    statement: Sentence
    proof: str = "Proof."
    """The sentence that starts the proof: it may contain `using` or `with`."""
    source: str = "the text"
    """The name of the source in error messages."""
    load_path: LoadPath = field(default_factory=LoadPath)
    top: str | None = None
    """The path of the file, for the name of its module."""


class CoqProver:
    """Implements `Prover` for Coq. It is not thread-safe, and a forked process needs its own."""

    def __init__(self, opening: Opening, settings: CoqSettings | None = None) -> None:
        self.opening = opening
        self.settings = settings or CoqSettings()
        self.attempts = 0
        self.replayed = 0
        """The number of tactics that were run again to reach a goal."""
        self.restarts = 0
        self._longest = self.settings.seconds  # that a tactic on the path may have taken
        self._closed = False
        self._process: CoqProcess
        self._base = self._before = self._tip = self._newest = 1
        """States: where the proof starts, where the lemma is stated, where Coq is, and the last one created."""
        self._way: list[tuple[Step, int]] = []
        self._run: list[tuple[Sentence, int]] = []
        """The sentences before the lemma that this process has run, with the states after them."""
        self._hanging: str | None = None
        """The tactic after the path, if one was kept."""
        self._start()

    @property
    def version(self) -> str:
        """Coq's version."""
        return self._process.version

    @property
    def pid(self) -> int:
        """The id of the present process."""
        return self._process.pid

    def root(self) -> Goal:
        """Return the goal of the lemma."""
        return self._root

    def attempt(self, place: Place, tactic: str, seconds: float | None = None) -> Attempt:
        """Try a tactic on a goal. Whatever happens, Coq is ready for the next one."""
        limit = self.settings.seconds if seconds is None else checks.number("seconds", seconds, above=0)
        self.attempts += 1
        self._longest = max(self._longest, limit)
        if not is_one_tactic(tactic):
            return Attempt(None, f"not a single tactic: {_one_line(tactic)}")
        if _UNCHECKED.search(tactic):
            return Attempt(None, "is not checked before the end of the proof")
        with self._whole():
            attempt = self._attempt(place, tactic, limit)
            if _spoiled(attempt):
                self._process.close()
                attempt = self._attempt(place, tactic, limit)
        return attempt

    def _attempt(self, place: Place, tactic: str, limit: float) -> Attempt:
        began = time.perf_counter()
        try:
            trouble = self._go(place)
            began = time.perf_counter()
            result = trouble or self._try(place.goal, tactic, limit)
        except CoqDied as error:
            result = _one_line(str(error))
        took = time.perf_counter() - began
        return Attempt(None, result, took) if isinstance(result, str) else Attempt(result, "", took)

    def is_proposition(self) -> bool:
        """Return whether the lemma is a proposition, of sort `Prop` or `SProp`; everything else is data."""
        with self._whole():
            return self._attempt(Place(self._root), _IS_PROPOSITION, _HURRY).reason == _NO_PROGRESS

    def show(self, place: Place) -> str:
        """Return a goal in the usual notation."""
        with self._whole():
            if trouble := self._go(place):
                raise ProverError(trouble)
            self._back()
            return self._texts((place.goal.data,))[0]

    def query(self, command: str, place: Place | None = None, seconds: float = _HURRY) -> list[str]:
        """Return what Coq prints for a command such as `Check`, `Print` or `Search` where the lemma is stated, or at a
        goal.
        """
        command = command.strip()
        if len(split(command)) != 1:
            raise ConfigError(f"a query must be one sentence with its full stop, not {command!r}")
        with self._whole():
            self._wake()
            if place is not None and (trouble := self._go(place)):
                raise ProverError(trouble)
            state = self._before if place is None else self._here()
            answer = self._call(protocol.query(command, state), seconds=seconds)[0]
        if not answer.good:
            raise ProverError(f"{command} {_one_line(answer.refusal)}")
        return [message.text for message in answer.messages if message.level in ("notice", "info")]

    def search(self, pattern: str, seconds: float = _HURRY) -> list[Premise]:
        """Return what `Search` finds where the lemma is stated: only what can be used in its proof.

        The pattern follows the word `Search`.
        """
        found = (_FOUND.fullmatch(text) for text in self.query(f"Search {pattern}.", seconds=seconds))
        return [Premise(match.group(1), " ".join(match.group(2).split())) for match in found if match]

    def move(self, opening: Opening) -> None:
        """Open another lemma. The text before it is run from where it differs from what this process has run."""
        before, self.opening = self.opening, opening
        self._longest = self.settings.seconds
        if not self._process.alive or (before.load_path, before.top) != (opening.load_path, opening.top):
            self._process.close()
            self._start()
            return
        with self._whole():
            try:
                self._run_opening()
            except CoqDied:
                self._start()
            except ProverError:
                self._process.close()
                raise

    def close(self) -> None:
        """End Coq. May be called twice; nothing else may be called afterwards."""
        self._closed = True
        if hasattr(self, "_process"):
            self._process.close()

    def _start(self) -> None:
        """Start a process, and run everything before the proof."""
        if self._closed:
            raise ProverError("the prover was closed")
        opening = self.opening
        top = () if opening.top is None else ("-topfile", opening.top)
        self._process = CoqProcess(opening.load_path, top, self.settings.memory_mb)
        self._run, self._newest = [], 1
        try:
            self._run_opening()
        except CoqDied as error:
            raise ProverError(f"{opening.source}: {error}") from error
        except ProverError:
            self._process.close()
            raise

    def _run_opening(self) -> None:
        """Run what is before the proof, from the first sentence that this process has not run."""
        opening = self.opening
        deadline = time.monotonic() + self.settings.start_seconds
        extra = [Sentence(text, 0, 0, 0, opening.statement.line) for text in (_PRINTING, opening.proof)]
        state = self._keep(opening.prelude)
        sentences = {1: Sentence("", 0, 0, 0, 1), **{known: sentence for sentence, known in self._run}}
        kept = len(self._run)
        for number, sentence in enumerate(
            [*opening.prelude[kept:], *extra[:-1], opening.statement, extra[-1]], start=kept
        ):
            if sentence is opening.statement:
                self._before = state
            answer = self._call(protocol.add(sentence.text, state), seconds=max(0.1, deadline - time.monotonic()))[0]
            if not answer.good:
                raise self._refused(answer, sentences, sentence)
            state = answer.state
            sentences[state] = sentence
            if number < len(opening.prelude):
                self._run.append((sentence, state))
        answer = self._call(protocol.GOALS, seconds=max(0.1, deadline - time.monotonic()))[0]
        if not answer.good:
            raise self._refused(answer, sentences, opening.statement)
        self._base = self._tip = self._newest = state
        self._way, self._hanging = [], None
        goals = read_goals(answer)
        where = f"{opening.source}, line {opening.statement.line}"
        if goals is not None and len(goals.subgoals) > 1:
            raise ProofFileError(
                f"{where}: this states {len(goals.subgoals)} goals that are proved together, not one: "
                f"{_one_line(opening.statement.text)}"
            )
        if goals is None or len(goals.subgoals) != 1 or goals.shelved or _EVAR.search(goals.subgoals[0].key):
            raise ProofFileError(
                f"{where}: this does not state one goal without existential variables: "
                f"{_one_line(opening.statement.text)}"
            )
        self._root = self._goal = self._made(goals.subgoals)[0]

    def _keep(self, prelude: tuple[Sentence, ...]) -> int:
        """Go back to the last state that can be reused for a text.

        Sentences that only moved, because a proof before them has grown, count as equal.
        """
        common = 0
        while common < min(len(self._run), len(prelude)) and self._run[common][0].text == prelude[common].text:
            common += 1
        state = self._run[common - 1][1] if common else 1
        if self._newest > 1 and not self._call(protocol.edit_at(state))[0].good:
            raise CoqDied("Coq did not go back")
        self._run = [(sentence, known) for sentence, (_, known) in zip(prelude, self._run[:common], strict=False)]
        return state

    def _refused(self, answer: Answer, sentences: dict[int, Sentence], last: Sentence) -> ProofFileError:
        """Return an error in the text before the proof. It may appear late, when Coq runs what it had postponed."""
        return ProofFileError(
            f"{self.opening.source}, line {protocol.refused_line(answer, sentences, last)}: {_one_line(answer.refusal)}"
        )

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """End Coq if an exchange is interrupted, for example by Ctrl-C; it is restarted when needed."""
        try:
            yield
        except ProverError:
            raise
        except BaseException:
            self._process.close()
            raise

    def _wake(self) -> None:
        """Restart Coq if it has ended."""
        if not self._process.alive:
            self._process.close()
            self._start()
            self.restarts += 1

    def _here(self) -> int:
        """The state at the end of the present path."""
        return self._way[-1][1] if self._way else self._base

    def _back(self) -> None:
        """Remove the tactic that was kept after the path."""
        state = self._here()
        if self._tip != state:
            self._call(protocol.edit_at(state))
        self._tip, self._hanging = state, None

    def _go(self, place: Place) -> str:
        """Move to a goal, and return the reason if that fails."""
        self._wake()
        common = 0
        while common < min(len(self._way), len(place.path)) and self._way[common][0] == place.path[common]:
            common += 1
        if common == len(self._way) == len(place.path):
            return "" if place.goal == self._goal else "the path does not lead to this goal"
        standing = self._hanging if common == len(self._way) else None
        del self._way[common:]
        try:
            # The numbers of the states were predicted. If Coq used others, they are known for the second attempt.
            return self._replay(place, standing) and self._replay(place, None)
        except CoqDied as error:
            return f"the path to the goal cannot be replayed: {_one_line(str(error))}"

    def _replay(self, place: Place, standing: str | None) -> str:
        """Replay the rest of the path in one exchange.

        Coq numbers its states consecutively, so all calls can be sent at once.
        """
        state, tip, newest = self._here(), self._tip, self._newest
        calls: list[str] = []
        way: list[tuple[Step, int]] = []
        for step in place.path[len(self._way) :]:
            if standing == step.tactic:
                state = tip
            else:
                calls += [protocol.edit_at(state)] if tip != state else []
                calls.append(protocol.add(f"( {step.tactic} ).", state))
                state = newest = newest + 1
                self.replayed += 1
            standing = None
            calls.append(protocol.add(f"{step.index + 1}: {{", state))
            state = tip = newest = newest + 1
            way.append((step, state))
        calls += [protocol.edit_at(state)] if tip != state else []
        answers = self._call(*calls, protocol.GOALS, seconds=_HURRY + self._longest * 2 * (len(way) + 1))
        self._newest = max(self._newest, *(answer.state for answer in answers))
        refused = next((answer for answer in answers if not answer.good), None)
        if refused is not None:
            return self._lost(refused)
        goals = read_goals(answers[-1])
        if (
            self._newest != newest
            or goals is None
            or len(goals.subgoals) != 1
            or goals.subgoals[0].key != place.goal.key
        ):
            return self._lost(answers[-1])
        self._way += way
        self._tip, self._hanging, self._goal = state, None, place.goal
        return ""

    def _lost(self, answer: Answer) -> str:
        """Go back to the lemma after the path led elsewhere."""
        self._way = []
        self._goal = self._root
        self._tip = 0  # the position is unknown
        self._back()
        return (
            "the path does not lead to this goal"
            if answer.good
            else f"the path to the goal cannot be replayed: {_one_line(answer.refusal)}"
        )

    def _try(self, goal: Goal, tactic: str, limit: float) -> tuple[Goal, ...] | str:
        """Return the subgoals of the present goal under a tactic, or why the tactic fails."""
        state = self._here()
        back = [protocol.edit_at(state)] if self._tip != state else []
        self._process.send(*back, protocol.add(f"Timeout {math.ceil(limit) + 1} ( {tactic} ).", state), protocol.GOALS)
        answers = self._await(limit, state)
        if answers is None:
            return f"time-out: more than {limit:g} s"
        if back and not answers[0].good:
            self._process.close()
            return f"Coq did not go back: {_one_line(answers[0].refusal)}"
        added, answer = answers[-2:]
        if not added.good:
            self._tip, self._hanging = state, None
            return _one_line(added.refusal)
        self._tip, self._hanging = added.state, None
        if not answer.good:
            return self._failure(answer)
        self._hanging = tactic
        return self._subgoals(goal, answer, limit, state)

    def _subgoals(self, goal: Goal, answer: Answer, limit: float, state: int) -> tuple[Goal, ...] | str:
        """Return what a successful tactic left, if the search can continue with it."""
        goals = read_goals(answer)
        if goals is None:
            return "ends the proof"
        if goals.given_up:
            return "gives up a goal"
        if goals.shelved or any(_EVAR.search(subgoal.key) for subgoal in goals.subgoals):
            return "leaves existential variables that its subgoals share"
        if len(goals.subgoals) == 1 and goals.subgoals[0].key == goal.key:
            return _NO_PROGRESS
        if not goals.subgoals:
            # A recursive proof may call itself without end: Coq would notice that at Qed only.
            self._process.send(protocol.query("Guarded.", self._tip))
            # The proof is found and must not be lost because of the time that this check takes.
            patience = max(_LENIENCE * limit, _HURRY)
            answers = self._await(patience, state)
            if answers is None:
                return f"time-out: more than {patience:g} s in the check that recursive calls are guarded"
            if not any("condition holds" in message.text for message in answers[0].messages):
                messages = [message.text for message in answers[0].messages] or [answers[0].refusal]
                return f"not guarded: {_one_line(messages[0])}"
        return self._made(goals.subgoals)

    def _made(self, goals: tuple[CoqGoal, ...]) -> tuple[Goal, ...]:
        """Return the goals at the present state, as the search stores them."""
        return tuple(Goal(goal.key, text, goal) for goal, text in zip(goals, self._texts(goals), strict=True))

    def _texts(self, goals: tuple[CoqGoal, ...]) -> list[str]:
        """Return the goals at the present state in the usual notation."""
        if not goals:
            return []
        _, answer, _ = self._call(protocol.print_all(False), protocol.GOALS, protocol.print_all(True))
        shown = read_goals(answer) if answer.good else None
        return [
            goal.layout()
            for goal in (shown.subgoals if shown is not None and len(shown.subgoals) == len(goals) else goals)
        ]

    def _failure(self, answer: Answer) -> str:
        reason = _one_line(answer.refusal)
        if "out of memory" in reason.lower():
            self._process.close()
        return reason

    def _await(self, limit: float, state: int) -> list[Answer] | None:
        """Return the answers to what was sent; None if they did not arrive in time, and Coq was reset to a state or
        ended.
        """
        answers: list[Answer] = []
        deadline = time.monotonic() + limit
        while self._process.expected:
            answer = self._process.receive(deadline - time.monotonic())
            if answer is None:
                self._stop(state)
                return None
            answers.append(answer)
            self._newest = max(self._newest, answer.state)
        return answers

    def _stop(self, state: int) -> None:
        """Interrupt Coq, and end it if it does not react.

        An interrupt that is too late hits the next call, so another attempt may be needed.
        """
        deadline = time.monotonic() + _GRACE
        self._process.interrupt()
        again = deadline - _GRACE / 2
        while self._process.expected:
            answer = self._process.receive(min(deadline, again) - time.monotonic())
            if answer is None and time.monotonic() >= deadline:
                self._process.close()
                return
            if answer is None:
                self._process.interrupt()
                again = deadline
            else:
                self._newest = max(self._newest, answer.state)
        for _ in range(3):
            if self._call(protocol.edit_at(state))[0].good:
                self._tip, self._hanging = state, None
                return
        self._process.close()

    def _call(self, *calls: str, seconds: float = _HURRY) -> list[Answer]:
        return self._process.call(*calls, seconds=seconds)


def _spoiled(attempt: Attempt) -> bool:
    """Return whether a tactic fails because of an earlier interrupt.

    What is interrupted while it is computed for the first time, such as the tables of `lia`, stays interrupted in this
    process.
    """
    return attempt.reason == "User interrupt." or (attempt.reason.endswith("Timeout!") and attempt.seconds < _AT_ONCE)


def _one_line(text: str) -> str:
    """Return a message on one line, shortened."""
    line = " ".join(text.split())
    return line if len(line) <= _REASON else f"{line[: _REASON - 4]} ..."
