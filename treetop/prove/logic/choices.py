"""The tactics of the mode `invertible`: what is left to do with a sequent after `saturate`.

====================  ================================================================================
`saturate`            everything that needs no choice and no branching
`split`               one subgoal for each part of the conclusion
`cases p | q`         one subgoal for each part of a disjunction among the hypotheses
`decide p`            where the conclusion is False: one subgoal with p, one with ~p
`show p`              choose this part of a disjunction as the conclusion
`use (p -> q) -> r`   prove the premises of a hypothesis, then continue with its head
====================  ================================================================================

If one of the first four applies, it loses nothing, so it is the only tactic worth trying. The last two are choices,
unless `use` is known to lose nothing: the head of the hypothesis proves the goal, and the premises are provable if
the goal is. The subgoals of every tactic are saturated at once.
"""

from __future__ import annotations

from treetop.prove.logic.formula import AND, FALSE, IFF, IMP, OR, Formula, atom_of_bit, bits, false, implies, neg, sides
from treetop.prove.logic.plans import Branch, Plan, TacticFailsError, hypothesis, no_argument, without
from treetop.prove.logic.sequents import Sequent


def plan(sequent: Sequent, tactic: str) -> Plan:
    """Return the plan of a tactic; raise TacticFailsError with the reason if it does not apply."""
    word, _, argument = tactic.partition(" ")
    maker = _PLANS.get(word)
    if maker is None:
        raise TacticFailsError(f"there is no tactic {word!r}; there are {', '.join(_PLANS)}")
    return maker(sequent, argument.strip())


def forced(sequent: Sequent) -> str | None:
    """Return the tactic that loses nothing, if there is one."""
    if not sequent.saturated:
        return "saturate"
    if sequent.conclusion.kind == FALSE:
        return f"decide {_most_frequent_atom(sequent).name}" if sequent.hypotheses else None
    harmless = [given for given in sequent.hypotheses if usable(given) and _ends(given, sequent.conclusion)]
    if harmless:
        following = _consequences(sequent)
        harmless = [given for given in harmless if all(_follows(one.head, following) for one in obligations(given))]
        if harmless:
            return f"use {min(harmless, key=_use_order).text}"
    if sequent.conclusion.kind in (AND, IFF):
        return "split"
    disjunctions = [given for given in sequent.hypotheses if given.kind == OR]
    if disjunctions:
        return f"cases {min(disjunctions, key=_case_order).text}"
    return None


def usable(given: Formula) -> bool:
    """Return whether `use` applies to it: an implication whose premises are all implications or equivalences."""
    return given.kind == IMP and all(premise.kind in (IMP, IFF) for premise in given.premises)


def choices(sequent: Sequent) -> list[str]:
    """Return the tactics to choose from, if none is forced."""
    shown = [f"show {part.text}" for part in sequent.conclusion.parts] if sequent.conclusion.kind == OR else []
    return shown + [f"use {given.text}" for given in sequent.hypotheses if usable(given)]


def hopeless(sequent: Sequent) -> bool:
    """Return whether a saturated sequent has no applicable tactic, so that it is not provable."""
    if sequent.conclusion.kind in (AND, IFF, OR) or any(given.kind == OR for given in sequent.hypotheses):
        return False
    return (
        not sequent.hypotheses
        if sequent.conclusion.kind == FALSE
        else not any(usable(given) for given in sequent.hypotheses)
    )


def obligations(implication: Formula) -> list[Formula]:
    """Return what must be proved before a hypothesis yields its head: its premises, with equivalences as two
    implications.
    """
    found: list[Formula] = []
    for premise in implication.premises:
        found += sides(premise) if premise.kind == IFF else (premise,)
    return found


def _ends(given: Formula, conclusion: Formula) -> bool:
    """Return whether the head of a hypothesis proves the conclusion at once."""
    head = given.head
    return head is conclusion or head.kind == FALSE or conclusion in head.parts


def _consequences(sequent: Sequent) -> set[Formula]:
    """Return what would follow at once if the conclusion held.

    Let a premise `a -> b` of a hypothesis have such a consequence b. If the sequent is provable, it is also provable
    with a as an additional hypothesis, and then b is provable, hence the premise. So nothing is lost by proving it.
    """
    found = {sequent.conclusion, *sequent.conclusion.parts} if sequent.conclusion.kind == AND else {sequent.conclusion}
    pending = [given for given in sequent.hypotheses if given.kind == IMP]
    while True:
        waiting = [given for given in pending if not found.issuperset(given.premises)]
        if len(waiting) == len(pending):
            return found
        for given in pending:
            if found.issuperset(given.premises):
                found.update(given.head.parts if given.head.kind == AND else (given.head,))
        pending = waiting


def _follows(formula: Formula, following: set[Formula]) -> bool:
    return formula in following or false in following or (formula.kind == AND and following.issuperset(formula.parts))


def _use_order(given: Formula) -> tuple[int, int, str]:
    return len(obligations(given)), given.size, given.text


def _most_frequent_atom(sequent: Sequent) -> Formula:
    """Return the atom that occurs in most hypotheses, among those of the shortest disjunction if there is one."""
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
        raise TacticFailsError(f"{argument} is not a disjunction")
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
                return Plan(
                    "decide", found, [Branch([*hypotheses, side], sequent.conclusion) for side in (found, neg(found))]
                )
    raise TacticFailsError(f"no atom {argument!r} occurs in the goal")


def _show(sequent: Sequent, argument: str) -> Plan:
    if sequent.conclusion.kind == OR:
        for part in sequent.conclusion.parts:
            if part.text == argument:
                return Plan("show", part, [Branch(list(sequent.hypotheses), part)])
    raise TacticFailsError(f"the conclusion is not a disjunction with the part {argument!r}")


def _use(sequent: Sequent, argument: str) -> Plan:
    given = hypothesis(sequent, argument)
    if given.kind != IMP:
        raise TacticFailsError(f"{argument} is not an implication")
    waiting = [premise for premise in given.premises if premise.kind not in (IMP, IFF)]
    if waiting:
        raise TacticFailsError(f"{argument} needs the atom {waiting[0].text} first")
    others, owed = without(sequent, given), obligations(given)
    branches = []
    for index, one in enumerate(owed):
        weaker = implies((one.head, *owed[:index], *owed[index + 1 :]), given.head)
        branches.append(Branch([*others, weaker, *one.premises], one.head))
    return Plan("use", given, [*branches, Branch([*others, given.head], sequent.conclusion)])


_PLANS = {"saturate": _saturate, "split": _split, "cases": _cases, "decide": _decide, "show": _show, "use": _use}
