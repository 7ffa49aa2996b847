"""Select lemmas in scope for a goal: found by their symbols, filtered by their form, and ranked by how much of the goal
they cover.

Lemmas of the file itself, and those made of common symbols, cannot be found by symbols; they are given from the start
(`scope`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from treetop import checks
from treetop.prove.coq.eliminations import Eliminations
from treetop.prove.coq.goals import Premise
from treetop.prove.coq.statements import same_statement
from treetop.prove.coq.support import determined, instances, support
from treetop.prove.coq.syntax import Term, parse
from treetop.prove.coq.terms import (
    applied_variables,
    arguments,
    free_names,
    head,
    match,
    name,
    peel,
    size,
    substitute,
    subterms,
)
from treetop.prove.coq.views import View
from treetop.prove.coq.ways import COMMON, Rule, Way, backward_ways, forward_ways, rewriting_ways, rule_from
from treetop.prove.prover import Suggestion

Lookup = Callable[[str], list[Premise]]
"""Returns the lemmas whose statements mention a symbol."""

_PRINCIPLES = ("_ind", "_rec", "_rect", "_sind", "_ind2", "_rec2", "_caset", "_case")
_MOST_SYMBOLS = 10
_FOREIGN = 0.7  # for each symbol of a lemma that the goal does not have
_ANY_GOAL = 0.15  # the quality of a lemma that fits every goal and leaves something to be proved
_RELATIONS = frozenset(("Equivalence", "PreOrder", "PER", "RewriteRelation"))
"""Classes of relations that Coq can rewrite with."""


class Fit(NamedTuple):
    """A use of a lemma at a goal, and its quality: from 0 (almost useless) to 1 (it covers the whole goal)."""

    kind: str
    rule: Rule
    quality: float
    detail: str = ""
    ends: bool = False
    """Whether nothing of the goal would be left."""
    values: tuple[str, ...] = ()
    """Values for variables that the goal does not determine, in the form that `apply` takes."""
    arrow: str = ""
    """The direction in which an equivalence is applied, if `apply` needs it."""


class Premises:
    """The lemmas in scope of one theorem.

    Coq is queried once for each symbol; after that a goal takes a few milliseconds.

    `given`: lemmas that are considered whatever the symbols of a goal are. `unlike`: a statement that no lemma may
    restate, for proving a theorem without its own twin.
    """

    def __init__(
        self, lookup: Lookup, given: Iterable[Premise] = (), *, most: int = 16, unlike: str | None = None
    ) -> None:
        checks.whole("most", most, 1)
        self._lookup = lookup
        self._most = most
        self._unlike = None if unlike is None else parse(unlike)
        self._asked: set[str] = set()
        self._rules: dict[str, Rule] = {}
        self._frequency: Counter[str] = Counter()
        self._stating: defaultdict[str, list[Way]] = defaultdict(list)
        self._rewriting: defaultdict[str, list[Way]] = defaultdict(list)
        self._requiring: defaultdict[str, list[Way]] = defaultdict(list)
        self._fitting_all: list[Way] = []
        self._eliminations = Eliminations()
        known = list(given)
        self._relations = frozenset(_relations(known))
        for premise in known:
            self._add(premise, general=True)

    def __len__(self) -> int:
        return len(self._rules)

    def suggest(self, view: View) -> list[Suggestion]:
        """Return tactics with the best lemmas for a goal, the most probable first."""
        fits = self.fits(view)
        opened = "intros; " if view.conclusion.kind == "forall" else ""
        found = [pair for fit in fits for pair in _tactics(fit, opened)]
        found += self._eliminations.suggest(view)
        found += self._witnessed(view)
        found += self._related(view)
        helpers = list(
            dict.fromkeys(fit.rule.name for fit in fits if fit.kind in ("apply", "eapply") and fit.quality > 0.25)
        )[:4]
        if helpers:
            found.append(Suggestion(f"{opened}eauto 4 using {', '.join(helpers)}", 0.12))
        return sorted(found, key=lambda pair: -pair.probability)

    def _witnessed(self, view: View) -> Iterator[Suggestion]:
        """Yield own lemmas that may prove what a witness must satisfy, and determine the witness."""
        given = arguments(view.conclusion)
        if head(view.conclusion) != "ex" or len(given) != 2 or given[1].kind != "fun":
            return
        parts, rules = [given[1].parts[1]], []
        while parts:
            part = parts.pop(0)
            parts += arguments(part) if head(part) == "and" else []
            rules += [
                way.rule.name for way in self._stating.get(head(part), ()) if way.rule.own and head(part) not in COMMON
            ]
        helpers = list(dict.fromkeys(reversed(rules)))[:4]
        if helpers:
            yield Suggestion(f"eexists; eauto 4 using {', '.join(helpers)}", 0.15)
        yield from (Suggestion(f"eexists; eapply {label}; eassumption", 0.1) for label in helpers[:2])

    def fits(self, view: View) -> list[Fit]:
        """Return the best uses of lemmas at a goal: at most `most`, one of each kind for a lemma."""
        self._ask(view)
        stated = peel(view.conclusion)[1]
        here = view.symbols | view.known_symbols | COMMON
        best: dict[tuple[str, str, str], Fit] = {}
        for fit in (
            *self._backwards(view, stated),
            *self._always(view, stated),
            *self._equations(stated),
            *self._rewritten(view),
            *self._forwards(view),
        ):
            fit = fit._replace(quality=fit.quality * _FOREIGN ** min(4, len(fit.rule.symbols - here)))
            key = (fit.kind, fit.rule.name, fit.detail)
            if key not in best or best[key].quality < fit.quality:
                best[key] = fit
        return sorted(best.values(), key=lambda fit: (-fit.quality, size(fit.rule.stated), fit.rule.name))[: self._most]

    def rarity(self, label: str) -> float:
        """Return the weight of a symbol: the fewer lemmas mention it, the higher."""
        return math.log((1 + len(self._rules)) / (1 + self._frequency[label])) + 0.2

    def _ask(self, view: View) -> None:
        """Fetch the lemmas about the symbols of a goal, those of the conclusion first."""
        wanted = [label for label in (*sorted(view.symbols), *sorted(view.known_symbols)) if label not in COMMON][
            :_MOST_SYMBOLS
        ]
        for label in wanted:
            if label not in self._asked:
                self._asked.add(label)
                for premise in self._lookup(label):
                    self._add(premise)

    def _add(self, premise: Premise, *, general: bool = False) -> None:
        if premise.name in self._rules or (premise.name.endswith(_PRINCIPLES) and not premise.own):
            return
        rule, statement = rule_from(premise)
        if self._unlike is not None and same_statement(statement, self._unlike):
            return
        self._rules[rule.name] = rule
        self._frequency.update(rule.symbols)
        for way in backward_ways(rule, statement):
            if head(way.pattern) not in way.rule.variables:
                self._stating[head(way.pattern)].append(way)
            elif general:
                self._fitting_all.append(way)
        for way in rewriting_ways(rule, self._relations):
            self._rewriting[head(way.pattern)].append(way)
        for way in forward_ways(rule, statement, general=general):
            self._requiring[head(way.pattern)].append(way)
        if general:
            self._eliminations.add(rule)

    def _explained(self, needed: frozenset[str], pattern: Term, wanted: Term) -> float:
        """Return how well a pattern that matches a statement covers it, from 0 to 1.

        This is the share of the statement's symbols that the pattern names, weighted by rarity; at least a third if it
        names more than the relation and common symbols, because everything of its form matches the others.
        """
        total = sum(self.rarity(label) for label in free_names(wanted) if label in self._frequency) + 0.1
        share = sum(self.rarity(label) for label in needed) / total
        return (0.4 if needed - COMMON - {head(pattern)} else 0.1) + 0.6 * min(1.0, share)

    def _backwards(self, view: View, stated: Term) -> Iterator[Fit]:
        about = free_names(stated)
        for way in self._stating.get(head(stated), ()):
            if not way.needed <= about:
                continue
            rule = way.rule
            found = match(way.pattern, stated, rule.variables)
            if found is not None:
                needs = support(rule.binders, found, view)
                quality = (
                    self._explained(way.needed, way.pattern, stated) / (1 + 0.15 * (needs.wanted - needs.met))
                    if rule.binders
                    else 1.0
                )
                values = () if needs.determined else tuple(instances(rule.binders, found, view))
                if not needs.determined and determined(rule.binders, {**found, **_unified(way)}):
                    yield Fit(way.kind, rule, min(quality, 1.0), "", needs.wanted > 0 and needs.complete, (), way.arrow)
                yield Fit(
                    way.kind if needs.determined else f"e{way.kind}",
                    rule,
                    min(quality, 1.0),
                    "",
                    needs.wanted > 0 and needs.complete,
                    values,
                    way.arrow,
                )

    def _always(self, view: View, stated: Term) -> Iterator[Fit]:
        """Yield the lemmas whose conclusion is a variable, such as `forall P : Prop, ~ ~ P -> P`."""
        refuted = Term("app", "", (name("not"), stated))
        if head(stated) == "False" or any(given.type == refuted for given in view.proofs):
            return  # this is a proof by contradiction already
        for way in self._fitting_all:
            needs = support(way.rule.binders, {head(way.pattern): stated}, view)
            if needs.determined or needs.complete:
                quality = _ANY_GOAL if needs.wanted else 1.0
                yield Fit(
                    "apply" if needs.determined else "eapply",
                    way.rule,
                    quality,
                    "",
                    needs.wanted > 0 and needs.complete,
                )

    def _equations(self, stated: Term) -> Iterator[Fit]:
        about = free_names(stated)
        sides = arguments(stated)[1:] if head(stated) == "eq" else ()
        for part in dict.fromkeys(part for part in subterms(stated) if part.kind in ("app", "name")):
            for way in self._rewriting.get(head(part), ()):
                if not way.needed <= about or way.target is None:
                    continue
                rule = way.rule
                found = match(way.pattern, part, rule.variables)
                if found is not None:
                    quality = (
                        self._explained(way.needed, way.pattern, stated)
                        * (0.9 if size(way.target) < size(way.pattern) else 0.6)
                        * (0.7 if way.kind else 1.0)
                    )
                    there = _expected(way.target, found, sides, part)
                    yield Fit(
                        "rewrite",
                        rule,
                        min(1.0, quality * (1.4 if there else 1.0)) / (1 + 0.2 * len(rule.conditions)),
                        way.kind,
                    )

    def _rewritten(self, view: View) -> Iterator[Fit]:
        """Use equations of the file itself in hypotheses."""
        for given in view.proofs[:8]:
            about = free_names(given.type)
            for part in dict.fromkeys(part for part in subterms(given.type) if part.kind in ("app", "name")):
                for way in self._rewriting.get(head(part), ()):
                    if (
                        way.rule.own
                        and way.needed <= about
                        and match(way.pattern, part, way.rule.variables) is not None
                    ):
                        quality = self._explained(way.needed, way.pattern, given.type) * (0.7 if way.kind else 1.0)
                        yield Fit(
                            "rewrite in",
                            way.rule,
                            min(1.0, quality) / (1 + 0.2 * len(way.rule.conditions)),
                            f"{way.kind}{way.rule.name} in {given.name}",
                        )

    def _related(self, view: View) -> Iterator[Suggestion]:
        """Rewrite with hypotheses about relations that Coq can rewrite with.

        Coq may need a second to see that it cannot, so they come late.
        """
        inside = frozenset(subterms(view.conclusion))
        for given in view.proofs[:8]:
            sides = arguments(given.type)[-2:]
            if head(given.type) in self._relations and len(sides) == 2:
                yield from (
                    Suggestion(f"rewrite {arrow}{given.name}", weight)
                    for arrow, weight, side in zip(("", "<- "), (0.07, 0.04), sides, strict=True)
                    if side in inside
                )

    def _forwards(self, view: View) -> Iterator[Fit]:
        for given in view.proofs[:8]:
            about = free_names(given.type)
            for way in self._requiring.get(head(given.type), ()) if given.type.kind != "forall" else ():
                if not way.needed <= about:
                    continue
                found = match(way.pattern, given.type, way.rule.variables)
                if found is not None and determined(way.rule.binders, {**found, **_unified(way)}):
                    needs = support(way.rule.binders, found, view)
                    ends = needs.complete and substitute(way.rule.stated, found) == view.conclusion
                    quality = min(1.0, self._explained(way.needed, way.pattern, given.type)) / (
                        1 + needs.wanted - needs.met
                    )
                    yield Fit("forward", way.rule, 1.0 if ends else 0.5 * quality, given.name, ends, (), way.arrow)


def _relations(known: Iterable[Premise]) -> Iterator[str]:
    """Return the relations for which an instance states that Coq can rewrite with them."""
    for premise in known:
        stated = rule_from(premise)[0].stated
        if head(stated).rpartition(".")[2] in _RELATIONS and arguments(stated):
            yield head(arguments(stated)[-1])


def _unified(way: Way) -> dict[str, Term]:
    """Return the variables that the goal does not determine but unification does."""
    return dict.fromkeys(applied_variables(way.pattern, way.rule.variables), way.pattern)


def _expected(target: Term, found: dict[str, Term], sides: tuple[Term, ...], part: Term) -> bool:
    """Return whether rewriting one side of an equation gives something with the other side's head."""
    if part not in sides:
        return False
    other = sides[1] if part == sides[0] else sides[0]
    shown = found.get(target.label, target) if target.kind == "name" else target
    return head(shown) == head(other)


def _tactics(fit: Fit, opened: str) -> Iterator[Suggestion]:
    """Yield the tactics for a fit.

    Variables that nothing determines must be found at once: goals that share an unknown are refused.
    """
    label, weight, conditional = f"{fit.arrow}{fit.rule.name}", fit.quality, bool(fit.rule.conditions)
    if fit.kind == "apply":
        yield Suggestion(f"{opened}apply {label}", (0.35 if conditional else 0.7) * weight)
        if conditional:
            yield Suggestion(f"{opened}apply {label}; auto", 0.3 * weight)
            yield Suggestion(f"{opened}apply {label}; assumption", 0.85 if fit.ends else 0.12 * weight)
    elif fit.kind == "eapply":
        yield Suggestion(f"{opened}eapply {label}; eauto 3", 0.3 * weight)
        yield Suggestion(f"{opened}eapply {label}; eassumption", 0.8 if fit.ends else 0.12 * weight)
        yield from (Suggestion(f"apply {label}{values}", 0.35 * weight) for values in fit.values if not opened)
    elif fit.kind in ("turned", "eturned"):
        yield Suggestion(
            f"{opened}symmetry; apply {label}",
            (0.25 if conditional else 0.5) * weight if fit.kind == "turned" else 0.02,
        )
    elif fit.kind == "rewrite":
        yield Suggestion(f"{opened}rewrite {fit.detail}{label}", 0.35 * weight)
        yield Suggestion(f"{opened}rewrite {fit.detail}{label}; auto", 0.25 * weight)
        yield Suggestion(
            f"{opened}rewrite {fit.detail}{label}; {'assumption' if conditional else 'reflexivity'}", 0.12 * weight
        )
    elif fit.kind == "rewrite in":
        yield Suggestion(f"rewrite {fit.detail}", 0.0 if opened else 0.2 * weight)
    elif not opened:
        yield Suggestion(f"apply {label} in {fit.detail}", 0.2 * weight if not fit.ends else 0.5)
        if fit.ends:
            yield Suggestion(f"apply {label} in {fit.detail}; assumption", 0.8)
