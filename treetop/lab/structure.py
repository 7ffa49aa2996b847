"""The structure of a proof: a hash of the proof as a graph, over the form of its goals and the kinds of its tactics.

Two searches that end with the same structure found the same proof, up to names. A node is a goal with the tactic that
proves it; it has one edge to each subgoal, in the prover's order; equal proofs of one goal are one node. The hash is
that of Weisfeiler and Lehman: the label of each node is combined with those of its neighbours, until this distinguishes
no more nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from treetop import checks
from treetop.prove.digests import digest
from treetop.prove.prover import Goal, Proof

Signature = Callable[[Goal], str]
Family = Callable[[str], str]

_NAME = r"[^\W\d][\w']*"
_WORD = re.compile(_NAME)
_TOKEN = re.compile(rf"{_NAME}(?:\.{_NAME})*|\d+(?:\.\d+)?")
_BINDER = r"(?:forall|exists|fun|let|fix)\b"
_NAMES = rf"(?!{_BINDER}){_NAME}(?:\s+{_NAME})*"
_DECLARED = re.compile(
    rf"^[ \t]*(?P<line>{_NAME}(?:[ \t]*,[ \t]*{_NAME})*)[ \t]*:"  # one or several hypotheses: n, m : nat
    rf"|\b{_BINDER}\s+(?P<bound>{_NAMES})\s*(?:[:,.]|=>)"
    rf"|[∀∃λ]\s*(?P<symbol>{_NAMES})\s*(?:[:,.]|=>)"
    rf"|[({{]\s*(?P<bracket>{_NAMES})\s*:",  # (n m : nat)
    re.MULTILINE,
)
_OPENING, _CLOSING = "([{", ")]}"


def structure(
    proof: Proof, signature: Signature | None = None, *, family: Family | None = None, rounds: int | None = None
) -> str:
    """Return the structure of a proof, as 16 hexadecimal digits.

    `signature` returns the form of a goal, `family` the kind of a tactic; defaults: `goal_signature` and
    `tactic_family`. `rounds` limits how often labels are combined; with few rounds, proofs that differ only in distant
    parts count as equal.

    >>> done = Proof(Goal("H : p |- p"), "exact H")
    >>> renamed = Proof(Goal("K : p |- p"), "exact K")
    >>> structure(done) == structure(renamed)
    True
    """
    checks.whole("rounds", rounds, 1, optional=True)
    nodes, root = _graph(proof)
    look, kind = signature or goal_signature, family or tactic_family
    labels = [digest("node", look(goal), kind(tactic)) for goal, tactic, _ in nodes]
    below = [subgoals for _, _, subgoals in nodes]
    above: list[list[tuple[int, int]]] = [[] for _ in nodes]
    for number, subgoals in enumerate(below):
        for index, subgoal in enumerate(subgoals):
            above[subgoal].append((index, number))
    classes = len(set(labels))
    for _ in range(rounds if rounds is not None else len(nodes)):
        labels = [_mixed(labels, number, below[number], above[number]) for number in range(len(nodes))]
        found = len(set(labels))
        # One more round after the classes are stable includes the connections of the classes in the labels.
        if found == classes:
            break
        classes = found
    return digest("graph", labels[root], *sorted(labels))


def goal_signature(goal: Goal) -> str:
    """Return the form of a goal: its key without the names of variables and hypotheses and without numbers.

    Names are taken for variables where the key declares them: `n : nat` at the start of a line, after `forall`,
    `exists` or `fun`, or within brackets. Each declaration gets a number, in the order of the text. All other names,
    those of constants, stay.

    >>> goal_signature(Goal("n : nat |- eq n 7"))
    '$1 : nat |- eq $1 #'
    """
    text = goal.key
    declared = {start: name for found in _DECLARED.finditer(text) for start, name in _names_of(found)}
    numbers: dict[str, int] = {}
    count = 0

    def replace(found: re.Match[str]) -> str:
        nonlocal count
        word = found.group()
        if word[0].isdigit():
            return "#"
        if found.start() in declared:
            count += 1
            numbers[word] = count
        return f"${numbers[word]}" if word in numbers else word

    return " ".join(_TOKEN.sub(replace, text).split())


def tactic_family(tactic: str) -> str:
    """Return the kind of a tactic: its first word, or the first words of the parts of a compound tactic.

    >>> tactic_family("rewrite <- H in H2"), tactic_family("induction n; simpl; [auto | rewrite IHn; auto]")
    ('rewrite', 'induction;simpl;[auto|rewrite;auto]')
    """
    return ";".join(_part_family(part.strip()) for part in _split(tactic, ";"))


def _part_family(part: str) -> str:
    if part[:1] in ("(", "[") and _closes_at_the_end(part):
        inner = part[1:-1].lstrip("> ")
        if part[0] == "(":
            return tactic_family(inner)
        return f"[{'|'.join(tactic_family(choice) for choice in _split(inner, '|'))}]"
    word = _WORD.search(part)
    return word.group() if word else part


def _closes_at_the_end(part: str) -> bool:
    depth = 0
    for place, letter in enumerate(part):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if depth <= 0:
            return place == len(part) - 1
    return False


def _split(text: str, separator: str) -> list[str]:
    """Return the parts between separators that are in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _names_of(found: re.Match[str]) -> list[tuple[int, str]]:
    group = found.lastgroup
    assert group is not None
    return [(found.start(group) + name.start(), name.group()) for name in _WORD.finditer(found.group(group))]


def _graph(proof: Proof) -> tuple[list[tuple[Goal, str, tuple[int, ...]]], int]:
    """Return the distinct proofs within a proof, each after its parts and with their numbers, and the number of the
    whole.

    A proof that is used often is one object in many places, so each object is visited once, and without recursion:
    proofs may be deep.
    """
    nodes: list[tuple[Goal, str, tuple[int, ...]]] = []
    known: dict[tuple[str, str, tuple[int, ...]], int] = {}
    numbers: dict[int, int] = {}  # by the id of the object
    pending = [proof]
    while pending:
        part = pending[-1]
        waiting = [other for other in part.parts if id(other) not in numbers]
        if waiting:
            pending.extend(waiting)
            continue
        pending.pop()
        subgoals = tuple(numbers[id(other)] for other in part.parts)
        key = (part.goal.key, part.tactic, subgoals)
        if key not in known:
            known[key] = len(nodes)
            nodes.append((part.goal, part.tactic, subgoals))
        numbers[id(part)] = known[key]
    return nodes, numbers[id(proof)]


def _mixed(labels: list[str], number: int, below: tuple[int, ...], above: list[tuple[int, int]]) -> str:
    """Return a node's label combined with those of its subgoals, in order, and of its users, in any order."""
    users = sorted(f"{index} {labels[user]}" for index, user in above)
    return digest("mixed", labels[number], *(labels[subgoal] for subgoal in below), "used by", *users)
