"""Looks for a Kripke model in which a formula fails.

First a model with one world. Then formulas are tried that come of it when most atoms are made True or False: if one of them fails somewhere, so does
the first, and the models are small. At last a complete search for a proof: where it fails at every choice, the failures make up a model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from treetop.errors import ConfigError
from treetop.prove.logic import choices
from treetop.prove.logic.classical import counterexample
from treetop.prove.logic.formula import OR, Formula, atom, atoms, deep, false, true
from treetop.prove.logic.models import KripkeModel, World
from treetop.prove.logic.normal import Known, Normaliser
from treetop.prove.logic.plans import Branch
from treetop.prove.logic.saturation import saturate
from treetop.prove.logic.sequents import Sequent

_FREE_ATOMS = 3  # atoms that keep their freedom while the others are made constant, at most
_PATIENCE = 0.1  # seconds for one such formula
_SHARE = 0.3  # of the time for such formulas
_THINNED = 32  # worlds of a model that is made smaller, at most
_GLANCE = 0.04  # of the time for a first look at the whole: its models are large


def refute(statement: Formula, seconds: float = 10.0) -> KripkeModel | None:
    """A model in which the statement does not hold. None: it is provable, or no model was found in that time."""
    if not 0 < seconds < math.inf:
        raise ConfigError(f"seconds must be a positive number, not {seconds!r}")
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
    """Try what becomes of the statement when all atoms but so many are made constant."""
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
    """Leave out the worlds that a model can do without, where it is not too large for that."""
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
    """There is no model."""


@dataclass(frozen=True, eq=False)
class _Root:
    """A world in which no atom of its sequent holds, below the models of all that failed there."""

    above: tuple[_Through, ...]


@dataclass(frozen=True, eq=False)
class _Through:
    """A model for a sequent out of one for the sequent that it was simplified to: what became of the atoms on the way, in order."""

    changes: list[Known]
    model: _Root | _Through


class _Changes:
    """A `Record` that keeps what became of atoms."""

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
    """A depth-first search for a proof that remembers why it failed."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._done: dict[Sequent, _Root | _Through | None] = {}

    def branch(self, branch: Branch) -> _Through | None:
        """A model for something that is not saturated yet; None: it is provable."""
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
    """Numbers the worlds of what a refuter found; worlds with the same atoms and the same worlds above them are one."""

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
        """What lies above the root, from below; worlds were made from above, so larger numbers lie below smaller ones."""
        found, pending = {root}, [root]
        while pending:
            for other in self._worlds[pending.pop()].above:
                if other not in found:
                    found.add(other)
                    pending.append(other)
        return sorted(found, reverse=True)

    def _number(self, found: _Root | _Through, values: tuple[Formula, ...]) -> int:
        """`values`: what the statement's atoms have become: True, False, or an atom of the sequent that was found to fail."""
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
