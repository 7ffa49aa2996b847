"""Which parts of the search loop are compiled in.

There is one source of the loop. What a search does not need is left out of its machine code when the loop is made, so a
plain search pays nothing for the options that it does not use; and there are few builds, so that a game is compiled
seldom. Within a build all choices are data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from treetop.compiler.functions import CompiledFunction


@dataclass(frozen=True)
class Build:
    """A set of parts. Two equal builds are the same machine code."""

    name: str
    solver: bool = False
    """Proofs: bounds, and children that are closed."""
    amaf: bool = False
    """All-moves-as-first statistics."""
    graph: bool = False
    """Transpositions share one node."""
    full: bool = False
    """Every rule of selection, backup, evaluation and the root."""
    stochastic: bool = False
    """Chance, immediate rewards, and paranoid search."""
    sets: bool = False
    """Information sets instead of positions; see `kernels.sets`."""
    problem: bool = False
    """States that live in Python; see `kernels.domain`."""
    shared: bool = False
    """Several threads search one tree; see `kernels.shared`."""
    rule: CompiledFunction[..., Any] | None = None
    """A selection rule of the user's own."""

    @property
    def about(self) -> str:
        """Its parts in plain words; a part that others include is not named beside them."""
        if self.sets:
            return "information sets"
        parts = ["chance and immediate rewards"] if self.stochastic and not self.problem else []
        parts += ["every option"] if self.full else []
        if not parts and not self.problem:
            parts = [
                words
                for flag, words in (
                    (self.graph, "transpositions"), (self.amaf, "AMAF statistics"), (self.solver, "the solver")
                )
                if flag
            ][:1]  # fmt: skip
        return ", ".join(parts)

    @property
    def plain(self) -> bool:
        """Whether it has UCB1 and PUCT only, without proofs."""
        return not (self.solver or self.amaf or self.graph or self.full or self.stochastic)


PLAIN = Build("plain")
SOLVER = Build("solver", solver=True)
AMAF = Build("amaf", solver=True, amaf=True)
GRAPH = Build("graph", solver=True, graph=True)
FULL = Build("full", solver=True, amaf=True, full=True)
STOCHASTIC = Build("stochastic", solver=True, stochastic=True)
STOCHASTIC_FULL = Build("stochastic and full", solver=True, amaf=True, full=True, stochastic=True)

INFORMATION_SETS = Build("information sets", stochastic=True, sets=True)
PROBLEM = Build("problem", solver=True, stochastic=True, problem=True)
PROBLEM_FULL = Build("problem and full", solver=True, full=True, stochastic=True, problem=True)

BUILDS = (PLAIN, SOLVER, AMAF, GRAPH, FULL, STOCHASTIC, STOCHASTIC_FULL)
"""The builds for compiled games, from the smallest to the largest."""


def smallest(flags: frozenset[str]) -> Build:
    """Return the smallest build that has all the named parts."""
    return next(build for build in BUILDS if all(getattr(build, flag) for flag in flags))


def for_threads(build: Build) -> Build:
    """Return a build for several threads on one tree."""
    return replace(build, name=f"{build.name}, shared", shared=True)


def with_rule(build: Build, rule: CompiledFunction[..., Any], content: str) -> Build:
    """Return a build with a selection rule of the user's own, named by its content: what the rule reads may change."""
    return replace(build, name=f"{build.name} {rule.function.__name__} {content}", rule=rule)
