"""Goals of Coq as data: hypotheses and a conclusion, as printed under `Set Printing All`.

This output hides nothing (no notation, no implicit argument, no coercion), so equal texts are equal goals, up to
universes; and a small grammar reads it. The usual notation is requested for display only.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A named hypothesis of a goal: `n : nat`, `IHn : ...`, or with a value `x := 3 : nat`."""

    name: str
    type: str
    value: str | None = None


@dataclass(frozen=True)
class CoqGoal:
    """The `Goal.data` of Coq goals. White space is a single blank everywhere."""

    hypotheses: tuple[Hypothesis, ...]
    """In Coq's order; `n, m : nat` are two hypotheses."""
    conclusion: str

    @property
    def key(self) -> str:
        """The whole goal as one text."""
        lines = [
            f"{given.name} {f':= {given.value} ' if given.value is not None else ''}: {given.type}"
            for given in self.hypotheses
        ]
        return "\n".join([*lines, f"|- {self.conclusion}"])

    def layout(self, width: int = 100) -> str:
        """Return the goal for display: one hypothesis a line, a rule, and the conclusion; long lines are wrapped."""
        *given, conclusion = self.key.split("\n")
        return "\n".join(
            [
                *(part for line in given for part in _wrapped(line, width)),
                "=" * 20,
                *_wrapped(conclusion.removeprefix("|- "), width),
            ]
        )


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


@dataclass(frozen=True)
class Premise:
    """A lemma, section hypothesis, constructor or definition in scope, as listed by Coq's `Search`."""

    name: str
    statement: str
    """As printed under `Set Printing All`."""
    own: bool = False
    """Whether the lemma's own file states it."""
