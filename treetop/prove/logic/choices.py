"""The tactics of the mode `invertible`: what remains to be done with a sequent when `saturate` has done its part.

====================  ==================================================================================================================
`saturate`            everything that needs no choice and no branching
`split`               one subgoal for each part of the conclusion
`cases p | q`         one subgoal for each part of a disjunction among the hypotheses
`decide p`            where the conclusion is False: one subgoal with p, one with ~p
`show p`              choose this part of a disjunction as the conclusion
`use (p -> q) -> r`   prove the premises of a hypothesis, then go on with its head
====================  ==================================================================================================================

Where one of the first four applies nothing can be lost by it, so it is the only tactic worth trying. The last two are choices. The subgoals of
every tactic are saturated at once.
"""

from __future__ import annotations

from treetop.prove.logic.formula import AND, FALSE, IFF, IMP, OR, Formula, atom_of_bit, bits, implies, neg, sides
from treetop.prove.logic.plans import Branch, Plan, TacticFailsError, hypothesis, no_argument, without
from treetop.prove.logic.sequents import Sequent


def plan(sequent: Sequent, tactic: str) -> Plan:
    """Understand a tactic; TacticFailsError says why it does not apply."""
    word, _, argument = tactic.partition(" ")
    maker = _PLANS.get(word)
    if maker is None:
        raise TacticFailsError(f"there is no tactic {word!r}; there are {', '.join(_PLANS)}")
    return maker(sequent, argument.strip())


def forced(sequent: Sequent) -> str | None:
    """The tactic by which nothing can be lost, where there is one."""
    if not sequent.saturated:
        return "saturate"
    if sequent.conclusion.kind in (AND, IFF):
        return "split"
    if sequent.conclusion.kind == FALSE:
        return f"decide {_most_telling_atom(sequent).name}" if sequent.hypotheses else None
    disjunctions = [given for given in sequent.hypotheses if given.kind == OR]
    if disjunctions:
        return f"cases {min(disjunctions, key=_case_order).text}"
    return None


def usable(given: Formula) -> bool:
    """Whether `use` may work on it: an implication all of whose premises are implications or equivalences."""
    return given.kind == IMP and all(premise.kind in (IMP, IFF) for premise in given.premises)


def choices(sequent: Sequent) -> list[str]:
    """The tactics between which one has to choose, where none is forced."""
    shown = [f"show {part.text}" for part in sequent.conclusion.parts] if sequent.conclusion.kind == OR else []
    return shown + [f"use {given.text}" for given in sequent.hypotheses if usable(given)]


def hopeless(sequent: Sequent) -> bool:
    """Whether a saturated sequent leaves nothing to try, so that it is not provable."""
    if sequent.conclusion.kind in (AND, IFF, OR) or any(given.kind == OR for given in sequent.hypotheses):
        return False
    return not sequent.hypotheses if sequent.conclusion.kind == FALSE else not any(usable(given) for given in sequent.hypotheses)


def obligations(implication: Formula) -> list[Formula]:
    """What has to be proved before a hypothesis gives its head: its premises, equivalences as two implications."""
    found: list[Formula] = []
    for premise in implication.premises:
        found += sides(premise) if premise.kind == IFF else (premise,)
    return found


def _most_telling_atom(sequent: Sequent) -> Formula:
    """The atom that occurs in most hypotheses, of those in the shortest disjunction if there is one."""
    disjunctions = [given for given in sequent.hypotheses if given.kind == OR]
    mask = -1
    if disjunctions:
        shortest = min(disjunctions, key=_case_order)
        mask = shortest.positive | shortest.negative
    counts: dict[int, int] = {}
    for given in sequent.hypotheses:
        for index in bits((given.positive | given.negative) & mask):
            counts[index] = counts.get(index, 0) + 1
    return atom_of_bit(min(counts, key=lambda index: (-counts[index], atom_of_bit(index).name)))


def _case_order(given: Formula) -> tuple[int, int, str]:
    return len(given.parts), given.size, given.text


def _saturate(sequent: Sequent, argument: str) -> Plan:
    no_argument("saturate", argument)
    if sequent.saturated:
        raise TacticFailsError("the goal is saturated already")
    return Plan("saturate", sequent.conclusion, [Branch(list(sequent.hypotheses), sequent.conclusion)])


def _split(sequent: Sequent, argument: str) -> Plan:
    no_argument("split", argument)
    conclusion = sequent.conclusion
    if conclusion.kind not in (AND, IFF):
        raise TacticFailsError("the conclusion is neither a conjunction nor an equivalence")
    parts = sides(conclusion) if conclusion.kind == IFF else conclusion.parts
    return Plan("split", conclusion, [Branch(list(sequent.hypotheses), part) for part in parts])


def _cases(sequent: Sequent, argument: str) -> Plan:
    given = hypothesis(sequent, argument)
    if given.kind != OR:
        raise TacticFailsError(f"{argument} is no disjunction")
    others = without(sequent, given)
    return Plan("cases", given, [Branch([*others, part], sequent.conclusion) for part in given.parts])


def _decide(sequent: Sequent, argument: str) -> Plan:
    if sequent.conclusion.kind != FALSE:
        raise TacticFailsError("decide is for goals whose conclusion is False")
    for given in sequent.hypotheses:
        for index in bits(given.positive | given.negative):
            found = atom_of_bit(index)
            if found.name == argument:
                hypotheses = list(sequent.hypotheses)
                return Plan("decide", found, [Branch([*hypotheses, side], sequent.conclusion) for side in (found, neg(found))])
    raise TacticFailsError(f"no atom {argument!r} occurs in the goal")


def _show(sequent: Sequent, argument: str) -> Plan:
    if sequent.conclusion.kind == OR:
        for part in sequent.conclusion.parts:
            if part.text == argument:
                return Plan("show", part, [Branch(list(sequent.hypotheses), part)])
    raise TacticFailsError(f"the conclusion is no disjunction with the part {argument!r}")


def _use(sequent: Sequent, argument: str) -> Plan:
    given = hypothesis(sequent, argument)
    if given.kind != IMP:
        raise TacticFailsError(f"{argument} is no implication")
    waiting = [premise for premise in given.premises if premise.kind not in (IMP, IFF)]
    if waiting:
        raise TacticFailsError(f"{argument} waits for {waiting[0].text}")
    others, owed = without(sequent, given), obligations(given)
    branches = []
    for index, one in enumerate(owed):
        weaker = implies((one.head, *owed[:index], *owed[index + 1 :]), given.head)
        branches.append(Branch([*others, weaker, *one.premises], one.head))
    return Plan("use", given, [*branches, Branch([*others, given.head], sequent.conclusion)])


_PLANS = {"saturate": _saturate, "split": _split, "cases": _cases, "decide": _decide, "show": _show, "use": _use}
