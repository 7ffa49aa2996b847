"""A goal of Coq as data: hypotheses and a conclusion, in the words of `Set Printing All`.

That printing hides nothing (no notation, no implicit argument, no coercion), so equal texts are equal goals, up to universes; and one small grammar
reads it. The notation that people are used to is asked for when somebody looks.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A name that stands for something in a goal: `n : nat`, `IHn : ...`, or with a value `x := 3 : nat`."""

    name: str
    type: str
    value: str | None = None


@dataclass(frozen=True)
class CoqGoal:
    """What `Goal.data` is for goals of Coq. White space is a single blank everywhere."""

    hypotheses: tuple[Hypothesis, ...]
    """In Coq's order; `n, m : nat` is two of them."""
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
        """Return the goal as people read it: a hypothesis a line, a rule, and the conclusion; long lines are wrapped."""
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
    """A lemma, hypothesis of a section, constructor or definition in scope, as Coq's `Search` lists it."""

    name: str
    statement: str
    """In the words of `Set Printing All`."""
    own: bool = False
    """Whether the file of the lemma states it."""
