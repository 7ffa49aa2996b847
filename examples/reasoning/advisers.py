"""Advisers of the search: a proposer names promising steps, a verifier estimates the probability of reaching 24."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

from treetop.errors import EvaluationError

from .puzzle import TARGET, State, Step


@dataclass(frozen=True)
class Proposal:
    """The answer of a proposer for a state."""

    weights: dict[Step, float]
    """The promising steps; only ratios of weights matter. Empty: no preference."""
    tokens: int = 0
    rejected: tuple[str, ...] = ()
    """Proposed steps that are not legal."""
    said: str = ""
    """The text of the answer, for the record."""


@dataclass(frozen=True)
class Verdict:
    """The answer of a verifier for a state."""

    chance: float
    """The probability of reaching 24, from 0 to 1."""
    tokens: int = 0
    said: str = ""


class Proposer(Protocol):
    """An object that names promising next steps."""

    async def propose(self, state: State, steps: Sequence[Step]) -> Proposal:
        """Return weights of some of the legal steps."""
        ...


class Verifier(Protocol):
    """An object that evaluates states."""

    async def verify(self, state: State) -> Verdict:
        """Return the probability of reaching 24."""
        ...


Advice = TypeVar("Advice", Proposal, Verdict)


@dataclass
class Adviser:
    """A proposer and a verifier as the evaluator of a search. Both are called concurrently, once for each state."""

    proposer: Proposer
    verifier: Verifier
    floor: float = 0.05
    """The share of the prior that is divided among all legal steps, so that all of them are searched."""
    _known: dict[tuple[str, State], Any] = field(default_factory=dict)
    _opened: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def evaluate(
        self, state: State, steps: Sequence[Step]
    ) -> tuple[dict[Step, float] | None, float, int, dict[str, Any]]:
        """Return the prior, the value, the tokens, and the texts for the record."""
        proposal, verdict = await both(
            self._once("proposer", state, lambda: self.proposer.propose(state, steps)),
            self._once("verifier", state, lambda: self.verifier.verify(state)),
        )
        note = {"proposer": proposal.said, "rejected": list(proposal.rejected), "verifier": verdict.said}
        return self._prior(proposal, steps), verdict.chance, proposal.tokens + verdict.tokens, note

    def _prior(self, proposal: Proposal, steps: Sequence[Step]) -> dict[Step, float] | None:
        total = sum(proposal.weights.values())
        if total <= 0.0:
            return None
        return {
            step: self.floor / len(steps) + (1.0 - self.floor) * proposal.weights.get(step, 0.0) / total
            for step in steps
        }

    async def _once(self, who: str, state: State, ask: Callable[[], Awaitable[Advice]]) -> Advice:
        """Return the cached answer for a state, or ask. A cached answer costs nothing."""
        if (who, state) not in self._known:
            advice = await ask()
            self._known[who, state] = (
                replace(advice, tokens=0, said="")
                if isinstance(advice, Verdict)
                else replace(advice, tokens=0, said="", rejected=())
            )
            return advice
        known: Advice = self._known[who, state]
        return known

    async def __aenter__(self) -> Self:
        for who in {id(one): one for one in (self.proposer, self.verifier)}.values():
            if isinstance(who, AbstractAsyncContextManager):
                await self._opened.enter_async_context(who)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._opened.aclose()


async def both(asked: Awaitable[Proposal], judged: Awaitable[Verdict]) -> tuple[Proposal, Verdict]:
    """Return both answers. If one of them fails, the error includes the tokens of the other."""
    proposal, verdict = await asyncio.gather(asked, judged, return_exceptions=True)
    if not isinstance(proposal, BaseException) and not isinstance(verdict, BaseException):
        return proposal, verdict
    failures = [one for one in (proposal, verdict) if isinstance(one, BaseException)]
    paid = sum(getattr(one, "tokens", 0) or getattr(one, "cost", 0) for one in (proposal, verdict))
    text = "; ".join(
        dict.fromkeys(
            str(one) if isinstance(one, EvaluationError) else f"{type(one).__name__}: {one}" for one in failures
        )
    )
    raise EvaluationError(text, cost=paid) from failures[0]


class RuleOfThumb:
    """A baseline without a model: it prefers whole numbers that divide 24."""

    async def propose(self, state: State, steps: Sequence[Step]) -> Proposal:
        """Prefer results that divide 24, then other whole numbers."""
        return Proposal({step: self._worth(step.result) for step in steps})

    async def verify(self, state: State) -> Verdict:
        """Return a probability by the share of the numbers that divide 24."""
        return Verdict(0.1 + 0.8 * sum(self._worth(number) == 1.0 for number in state) / len(state))

    @staticmethod
    def _worth(number: Fraction) -> float:
        if number.denominator != 1 or number < 0:
            return 0.05
        return 1.0 if number and TARGET % number == 0 else 0.3


class NoOpinion:
    """A baseline without advice: the search alone."""

    async def propose(self, state: State, steps: Sequence[Step]) -> Proposal:
        """Return no preference."""
        return Proposal({})

    async def verify(self, state: State) -> Verdict:
        """Return the probability 0.5."""
        return Verdict(0.5)
