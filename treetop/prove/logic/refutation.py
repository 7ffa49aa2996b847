"""Search for a Kripke model in which a formula fails.

First, models with one world. Then the formulas that result when most atoms are replaced by True or False: if one of
them fails somewhere, so does the statement, and the models are small. Finally a complete proof search: if it fails at
every choice, the failures form a model.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from treetop import checks
from treetop.prove.logic import choices
from treetop.prove.logic.classical import counterexample
from treetop.prove.logic.formula import OR, Formula, atom, atoms, deep, false, true
from treetop.prove.logic.models import KripkeModel, World
from treetop.prove.logic.normal import Known, Normaliser
from treetop.prove.logic.plans import Branch
from treetop.prove.logic.saturation import saturate
from treetop.prove.logic.sequents import Sequent

_FREE_ATOMS = 3  # atoms that stay free while the others are replaced by constants, at most
_PATIENCE = 0.1  # seconds for one such formula
_SHARE = 0.3  # share of the time for such formulas
_THINNED = 32  # the largest model that is reduced, in worlds
_GLANCE = 0.04  # share of the time for a first search of the whole: its models are large


def refute(statement: Formula, seconds: float = 10.0) -> KripkeModel | None:
    """Return a model in which the statement does not hold. None: it is provable, or no model was found in time."""
    checks.number("seconds", seconds, above=0)
    end = time.monotonic() + seconds
    share = _SHARE * seconds
    try:
        with deep():
            return (
                _one_world(statement)
                or _specialised(statement, range(1, 2), time.monotonic() + share)
                or _searched(statement, {}, statement, time.monotonic() + _GLANCE * seconds)
                or _specialised(statement, range(2, _FREE_ATOMS + 1), time.monotonic() + share)
                or _searched(statement, {}, statement, end)
            )
    except (_ProvableError, RecursionError):
        return None


def _one_world(statement: Formula) -> KripkeModel | None:
    values = counterexample((), statement, dead_ends=100)
    if values is None:
        return None
    return _checked(KripkeModel((World(frozenset(held.name for held, value in values.items() if value)),)), statement)


def _specialised(statement: Formula, free: Iterable[int], end: float) -> KripkeModel | None:
    """Try the statement with all but this many atoms replaced by constants."""
    names = atoms(statement)
    for count in free:
        for chosen in combinations(names, count) if count < len(names) else ():
            for value in (true, false):
                if time.monotonic() > end:
                    return None
                constants = {atom(name): value for name in names if name not in chosen}
                try:
                    model = _searched(
                        Normaliser(constants).normal(statement),
                        constants,
                        statement,
                        min(end, time.monotonic() + _PATIENCE),
                    )
                except _ProvableError:
                    continue
                if model is not None:
                    return model
    return None


def _searched(formula: Formula, constants: Known, statement: Formula, end: float) -> KripkeModel | None:
    try:
        refuted = _Refuter(end).branch(Branch([], formula))
    except _TimeIsUpError:
        return None
    if refuted is None:
        raise _ProvableError
    return _thinned(_checked(_Layout(statement).model(_Through([constants], refuted)), statement), statement)


def _thinned(model: KripkeModel, statement: Formula) -> KripkeModel:
    """Remove the worlds that a model does not need, if it is not too large."""
    if len(model.worlds) > _THINNED:
        return model
    for number in range(len(model.worlds) - 1, 0, -1):
        smaller = model.without(number)
        if smaller.refutes(statement):
            model = smaller
    return model


def _checked(model: KripkeModel, statement: Formula) -> KripkeModel:
    if not model.refutes(statement):
        raise AssertionError(
            f"this model does not refute {statement.text}: {model.flaw() or 'it holds there'}\n{model}"
        )
    return model


class _TimeIsUpError(Exception):
    pass


class _ProvableError(Exception):
    """The statement has no counter-model."""


@dataclass(frozen=True, eq=False)
class _Root:
    """A world in which no atom of its sequent holds, below the models of everything that failed there."""

    above: tuple[_Through, ...]


@dataclass(frozen=True, eq=False)
class _Through:
    """A model for a sequent, from a model for its simplified form: the replacements of atoms, in order."""

    changes: list[Known]
    model: _Root | _Through


class _Changes:
    """A `Record` that keeps the replacements of atoms."""

    def __init__(self) -> None:
        self.found: list[Known] = []

    def equal(self, equivalence: Formula) -> None:
        self.found.append({equivalence.right: equivalence.left})

    def pure(self, values: Known) -> None:
        self.found.append(values)

    def rewritten(self, *_: object) -> None:
        pass

    concluded = parted = branched = introduced = closed = rewritten


class _Refuter:
    """A depth-first proof search that keeps the reasons of failure."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._done: dict[Sequent, _Root | _Through | None] = {}

    def branch(self, branch: Branch) -> _Through | None:
        """Return a model for a sequent that is not saturated yet; None: it is provable."""
        changes = _Changes()
        left = saturate(branch.hypotheses, branch.conclusion, changes)
        if left is None:
            return None
        if left not in self._done:
            if time.monotonic() > self._deadline:
                raise _TimeIsUpError
            self._done[left] = self._refute(left)
        model = self._done[left]
        return None if model is None else _Through(changes.found, model)

    def _refute(self, sequent: Sequent) -> _Root | _Through | None:
        values = counterexample(sequent.hypotheses, sequent.conclusion)
        if values is not None:
            return _Through([{held: true if value else false for held, value in values.items()}], _Root(()))
        only = choices.forced(sequent)
        if only is not None:
            return self._first(choices.plan(sequent, only).branches)
        above = []
        for part in sequent.conclusion.parts if sequent.conclusion.kind == OR else ():
            model = self.branch(Branch(list(sequent.hypotheses), part))
            if model is None:
                return None
            above.append(model)
        for given in sequent.hypotheses:
            if choices.usable(given):
                *premises, rest = choices.plan(sequent, f"use {given.text}").branches
                model = self._first(premises)
                if model is None:
                    return self.branch(rest)
                above.append(model)
        return _Root(tuple(above))

    def _first(self, branches: list[Branch]) -> _Through | None:
        for branch in branches:
            model = self.branch(branch)
            if model is not None:
                return model
        return None


class _Layout:
    """Numbers the worlds of a refutation; worlds with the same atoms and the same worlds above them are merged."""

    def __init__(self, statement: Formula) -> None:
        self._atoms = [atom(name) for name in atoms(statement)]
        self._worlds: list[World] = []
        self._numbers: dict[tuple[frozenset[str], frozenset[int]], int] = {}
        self._seen: dict[tuple[int, tuple[Formula, ...]], int] = {}

    def model(self, found: _Through) -> KripkeModel:
        root = self._number(found, tuple(self._atoms))
        order = self._reached(root)
        numbers = {old: new for new, old in enumerate(order)}
        worlds = (self._worlds[old] for old in order)
        return KripkeModel(
            tuple(World(world.atoms, tuple(sorted(numbers[old] for old in world.above))) for world in worlds)
        )

    def _reached(self, root: int) -> list[int]:
        """Return what lies above the root, from below; worlds were created from above, so larger numbers lie below
        smaller ones.
        """
        found, pending = {root}, [root]
        while pending:
            for other in self._worlds[pending.pop()].above:
                if other not in found:
                    found.add(other)
                    pending.append(other)
        return sorted(found, reverse=True)

    def _number(self, found: _Root | _Through, values: tuple[Formula, ...]) -> int:
        """Return the model.

        `values`: the replacements of the statement's atoms: True, False, or an atom of the sequent that failed.
        """
        while isinstance(found, _Through):
            for change in found.changes:
                values = tuple(change.get(value, value) for value in values)
            found = found.model
        key = (id(found), values)
        if key not in self._seen:
            above = {self._number(other, values) for other in found.above}
            held = frozenset(one.name for one, value in zip(self._atoms, values, strict=True) if value is true)
            self._seen[key] = self._merged(held, frozenset(above))
        return self._seen[key]

    def _merged(self, held: frozenset[str], above: frozenset[int]) -> int:
        if len(above) == 1:
            (only,) = above
            if self._worlds[only].atoms == held:
                return only
        key = (held, above)
        if key not in self._numbers:
            self._numbers[key] = len(self._worlds)
            self._worlds.append(World(held, tuple(sorted(above))))
        return self._numbers[key]
