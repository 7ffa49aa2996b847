"""A parsed goal of Coq for the providers, with a guess of the kind of each hypothesis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from treetop.prove.coq.goals import CoqGoal
from treetop.prove.coq.syntax import Term, parse
from treetop.prove.coq.terms import arguments, bound_names, conclusion, free_names, head, subterms, symbols

_PROPOSITIONS = frozenset(
    """
eq and or not iff ex ex2 all True False le lt ge gt Nat.le Nat.lt JMeq Acc well_founded In Forall Exists NoDup incl
Permutation Sorted StronglySorted LocallySorted HdRel Add Forall2 ForallOrdPairs Is_true unique inhabited reflect Z.le
Z.lt Z.ge Z.gt N.le N.lt Pos.le Pos.lt Rle Rlt clos_trans clos_refl_trans Nat.Even Nat.Odd
Nat.divide decidable Decidable.decidable
""".split()  # noqa: SIM905
)
_DATA = frozenset("nat bool unit string ascii Z N positive Q R comparison Empty_set".split())  # noqa: SIM905
_PREDICATES = frozenset(("relation", "Ensemble", "Relation"))
_FAMILIES = frozenset("list option prod sum sig sigT sumbool sumor".split())  # noqa: SIM905
DATA_FAMILIES = _DATA | _FAMILIES - {"sumbool", "sumor"}
"""Types whose elements are data, by their names without modules."""


@dataclass(frozen=True)
class Given:
    """A parsed hypothesis."""

    name: str
    type: Term
    role: str
    """`proof` of a statement, `data`, or `type` for types, predicates and functions that return types."""
    value: Term | None = None

    @property
    def is_proof(self) -> bool:
        """Whether it is a statement."""
        return self.role == "proof"


@dataclass(frozen=True)
class View:
    """A parsed goal."""

    givens: tuple[Given, ...]
    conclusion: Term

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in the goal."""
        return frozenset(given.name for given in self.givens)

    @cached_property
    def by_name(self) -> dict[str, Given]:
        """The hypotheses by their names."""
        return {given.name: given for given in self.givens}

    @cached_property
    def proofs(self) -> tuple[Given, ...]:
        """The hypotheses that are statements, the newest first: Coq puts new hypotheses last, and they are the most
        important.
        """
        return tuple(given for given in reversed(self.givens) if given.is_proof)

    @cached_property
    def data(self) -> tuple[Given, ...]:
        """The hypotheses that are data, in order."""
        return tuple(given for given in self.givens if given.role == "data")

    @cached_property
    def parts(self) -> tuple[Term, ...]:
        """All subterms of the conclusion that hold no bound variable."""
        bound = bound_names(self.conclusion)
        return tuple(
            dict.fromkeys(part for part in subterms(self.conclusion) if not (bound and free_names(part) & bound))
        )

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The global names in the conclusion."""
        return symbols(self.conclusion, self.names)

    @cached_property
    def known_symbols(self) -> frozenset[str]:
        """The global names in the hypotheses that are statements."""
        found: frozenset[str] = frozenset().union(*(free_names(given.type) for given in self.proofs))
        return found - self.names

    def fresh(self, wish: str) -> str:
        """Return a name that is not used yet."""
        return next(
            label for label in (wish, *(f"{wish}{number}" for number in range(1000))) if label not in self.names
        )


@lru_cache(maxsize=4_000)
def view(goal: CoqGoal) -> View:
    """Return the parsed goal."""
    givens: list[Given] = []
    roles: dict[str, Given] = {}
    for hypothesis in goal.hypotheses:
        kind = parse(hypothesis.type)
        value = None if hypothesis.value is None else parse(hypothesis.value)
        given = Given(hypothesis.name, kind, role(hypothesis.name, kind, roles), value)
        givens.append(given)
        roles[given.name] = given
    return View(tuple(givens), parse(goal.conclusion))


def role(label: str, kind: Term, known: dict[str, Given]) -> str:
    """Return the kind of a hypothesis of this type.

    Printed terms do not include the sorts of their types, so names and arguments decide.
    """
    stated = conclusion(kind)
    if stated.kind == "sort":
        return "type"
    symbol = head(stated)
    if symbol in _PREDICATES:
        return "type"
    if symbol in known:
        sort = conclusion(known[symbol].type)
        if sort.kind == "sort":
            return "proof" if sort.label in ("Prop", "SProp") else "data"
    short = symbol.rpartition(".")[2]
    if symbol in _PROPOSITIONS or short in _PROPOSITIONS:
        return "proof"
    if short in (_FAMILIES if arguments(stated) else _DATA):
        return "data"
    return "proof" if _automatic(label) or _about_data(arguments(stated), known) else "data"


def _automatic(label: str) -> bool:
    return label.startswith(("H", "IH", "E")) and not label[1:2].islower()


def _about_data(given: Iterable[Term], known: dict[str, Given]) -> bool:
    return any(label in known and known[label].role == "data" for argument in given for label in free_names(argument))
