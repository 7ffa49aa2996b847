"""The tactics of the mode `raw`: the rules of Dyckhoff's contraction-free sequent calculus (G4ip), one by one.

Every sequence of rules ends, because each premise is smaller than its sequent. Wrong choices are possible.

========================  ================================================================================
`assumption`              the conclusion is among the hypotheses
`absurd`                  False is among the hypotheses
`trivial`                 the conclusion is True
`intro`                   the conclusion `a -> b`: assume a, show b
`split`                   the conclusion `a & b` or `a <-> b`: show both sides
`left`, `right`           the conclusion `a | b`: show this side
`take a & b`              a hypothesis becomes its two sides; so does `a <-> b`
`cases a | b`             one subgoal with a, one with b
`apply a -> b`            a is among the hypotheses (or True): have b
`curry a & b -> c`        have `a -> b -> c`; of `(a <-> b) -> c` have `(a -> b) -> (b -> a) -> c`
`branch a | b -> c`       have `a -> c` and `b -> c`
`use (a -> b) -> c`       show `a -> b` with the help of `b -> c`, then continue with c
========================  ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable

from treetop.prove.logic.formula import AND, FALSE, IFF, IMP, OR, TRUE, Formula, false, imp, sides
from treetop.prove.logic.plans import Branch, Plan, TacticFailsError, hypothesis, no_argument, without
from treetop.prove.logic.sequents import Sequent


def plan(sequent: Sequent, tactic: str) -> Plan:
    """Return the plan of a tactic; raise TacticFailsError with the reason if it does not apply."""
    word, _, argument = tactic.partition(" ")
    argument = argument.strip()
    if word in _RIGHT:
        no_argument(word, argument)
        return Plan(word, sequent.conclusion, _RIGHT[word](sequent))
    if word in _LEFT:
        given = hypothesis(sequent, argument)
        return Plan(word, given, _LEFT[word](sequent, given))
    raise TacticFailsError(f"there is no tactic {word!r}; there are {', '.join((*_RIGHT, *_LEFT))}")


def applicable(sequent: Sequent) -> list[tuple[str, Formula]]:
    """Yield the words of all tactics that apply to a sequent, each with the formula that it works on."""
    conclusion, known = sequent.conclusion, set(sequent.hypotheses)
    found: list[tuple[str, Formula]] = []
    if conclusion in known:
        found.append(("assumption", conclusion))
    if false in known:
        found.append(("absurd", false))
    found += [(word, conclusion) for word in _RIGHT_WORDS[conclusion.kind]]
    for given in sequent.hypotheses:
        word = _left_word(given, known)
        if word:
            found.append((word, given))
    return found


def tactic(word: str, focus: Formula) -> str:
    """Return a tactic as text."""
    return word if word in _RIGHT else f"{word} {focus.text}"


def _left_word(given: Formula, known: set[Formula]) -> str | None:
    if given.kind in (AND, IFF):
        return "take"
    if given.kind == OR:
        return "cases"
    if given.kind != IMP:
        return None
    premise = given.left
    if premise in known or premise.kind == TRUE:
        return "apply"
    return {AND: "curry", IFF: "curry", OR: "branch", IMP: "use"}.get(premise.kind)


def _closing(holds: Callable[[Sequent], bool], reason: str) -> Callable[[Sequent], list[Branch]]:
    def rule(sequent: Sequent) -> list[Branch]:
        if not holds(sequent):
            raise TacticFailsError(reason)
        return []

    return rule


def _intro(sequent: Sequent) -> list[Branch]:
    conclusion = _wanted(sequent, IMP, "an implication")
    return [Branch([*sequent.hypotheses, conclusion.left], conclusion.right)]


def _split(sequent: Sequent) -> list[Branch]:
    conclusion = (
        sequent.conclusion
        if sequent.conclusion.kind == IFF
        else _wanted(sequent, AND, "a conjunction or an equivalence")
    )
    return [Branch(list(sequent.hypotheses), side) for side in sides(conclusion)]


def _left(sequent: Sequent) -> list[Branch]:
    return [Branch(list(sequent.hypotheses), _wanted(sequent, OR, "a disjunction").left)]


def _right(sequent: Sequent) -> list[Branch]:
    return [Branch(list(sequent.hypotheses), _wanted(sequent, OR, "a disjunction").right)]


def _take(sequent: Sequent, given: Formula) -> list[Branch]:
    if given.kind not in (AND, IFF):
        raise TacticFailsError(f"{given.text} is neither a conjunction nor an equivalence")
    return [Branch([*without(sequent, given), *sides(given)], sequent.conclusion)]


def _cases(sequent: Sequent, given: Formula) -> list[Branch]:
    if given.kind != OR:
        raise TacticFailsError(f"{given.text} is not a disjunction")
    others = without(sequent, given)
    return [Branch([*others, side], sequent.conclusion) for side in (given.left, given.right)]


def _apply(sequent: Sequent, given: Formula) -> list[Branch]:
    premise = _premise(given, None, "")
    if premise.kind != TRUE and premise not in sequent.hypotheses:
        raise TacticFailsError(f"{premise.text} is not among the hypotheses")
    return [Branch([*without(sequent, given), given.right], sequent.conclusion)]


def _curry(sequent: Sequent, given: Formula) -> list[Branch]:
    is_equivalence = given.kind == IMP and given.left.kind == IFF
    first, second = sides(given.left if is_equivalence else _premise(given, AND, "a conjunction or an equivalence"))
    return [Branch([*without(sequent, given), imp(first, imp(second, given.right))], sequent.conclusion)]


def _branch(sequent: Sequent, given: Formula) -> list[Branch]:
    premise = _premise(given, OR, "a disjunction")
    return [
        Branch(
            [*without(sequent, given), imp(premise.left, given.right), imp(premise.right, given.right)],
            sequent.conclusion,
        )
    ]


def _use(sequent: Sequent, given: Formula) -> list[Branch]:
    premise = _premise(given, IMP, "an implication")
    others = without(sequent, given)
    return [
        Branch([*others, imp(premise.right, given.right), premise.left], premise.right),
        Branch([*others, given.right], sequent.conclusion),
    ]


def _wanted(sequent: Sequent, kind: int, what: str) -> Formula:
    if sequent.conclusion.kind != kind:
        raise TacticFailsError(f"the conclusion is not {what}")
    return sequent.conclusion


def _premise(given: Formula, kind: int | None, what: str) -> Formula:
    if given.kind != IMP:
        raise TacticFailsError(f"{given.text} is not an implication")
    if kind is not None and given.left.kind != kind:
        raise TacticFailsError(f"the premise of {given.text} is not {what}")
    return given.left


_RIGHT: dict[str, Callable[[Sequent], list[Branch]]] = {
    "assumption": _closing(
        lambda sequent: sequent.conclusion in sequent.hypotheses, "the conclusion is not among the hypotheses"
    ),
    "absurd": _closing(lambda sequent: false in sequent.hypotheses, "False is not among the hypotheses"),
    "trivial": _closing(lambda sequent: sequent.conclusion.kind == TRUE, "the conclusion is not True"),
    "intro": _intro,
    "split": _split,
    "left": _left,
    "right": _right,
}
_LEFT: dict[str, Callable[[Sequent, Formula], list[Branch]]] = {
    "take": _take,
    "cases": _cases,
    "apply": _apply,
    "curry": _curry,
    "branch": _branch,
    "use": _use,
}
_RIGHT_WORDS: dict[int, tuple[str, ...]] = {
    0: (),
    TRUE: ("trivial",),
    FALSE: (),
    AND: ("split",),
    OR: ("left", "right"),
    IMP: ("intro",),
    IFF: ("split",),
}
