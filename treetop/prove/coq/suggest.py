"""Suggest Coq tactics from the goal: its form, its hypotheses, its variables, the lemmas that match it, and tactics
that close goals.

Every weight is from a small table that depends on the form (see `shapes`, `hypotheses`, `inductions`, `premises` and
`closers` here); nothing is random, and Coq is queried for lemmas and definitions only, once for each symbol.
"""

from __future__ import annotations

from collections.abc import Iterator

from treetop import checks
from treetop.errors import ConfigError
from treetop.prove.coq.goals import CoqGoal
from treetop.prove.coq.hypotheses import on_hypotheses
from treetop.prove.coq.inductions import on_variables
from treetop.prove.coq.premises import Premises
from treetop.prove.coq.recursion import Definition, Recursion
from treetop.prove.coq.shapes import CONNECTIVES, on_conclusion
from treetop.prove.coq.terms import free_names
from treetop.prove.coq.views import View, view
from treetop.prove.prover import Goal, Suggestion
from treetop.prove.providers import by_probability, merged

_ARITHMETIC = ("le", "lt", "ge", "gt", "Nat.", "Z.", "N.", "Pos.", "Rle", "Rlt")
_LEAST = 0.002  # less probable tactics are not worth an attempt


class CoqProvider:
    """Suggestions for goals whose `data` is a `CoqGoal`.

    `premises`: the lemmas in scope; without them only hypotheses are used. `definition`: returns the definitions of
    constants, so that the user's recursive functions are recognised and abbreviations unfolded. `width`: how many
    suggestions a goal gets. `missing`: tactics that do not exist, because their library is not loaded.
    """

    name = "coq"

    def __init__(
        self,
        premises: Premises | None = None,
        definition: Definition | None = None,
        *,
        width: int = 48,
        missing: frozenset[str] = frozenset(),
    ) -> None:
        checks.whole("width", width, 1)
        self._premises = premises
        self._recursion = Recursion(definition)
        self._width = width
        self._missing = missing
        self._last: tuple[CoqGoal, list[Suggestion]] | None = None

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """Return the best suggestions, the most probable first."""
        return self.suggest_more(goal, self._width)

    def suggest_more(self, goal: Goal, count: int) -> list[Suggestion]:
        """Return at most `count` suggestions."""
        if not isinstance(goal.data, CoqGoal):
            raise ConfigError(f"`{goal}` is not a goal of Coq: its data is {type(goal.data).__name__}")
        if self._last is None or self._last[0] != goal.data:
            self._last = goal.data, self._all(view(goal.data))
        return self._last[1][:count]

    def _all(self, seen: View) -> list[Suggestion]:
        found = [
            *on_conclusion(seen, self._recursion),
            *on_hypotheses(seen, self._recursion),
            *on_variables(seen, self._recursion),
            *closers(seen),
        ]
        if self._premises is not None:
            found += self._premises.suggest(seen)
        return [
            pair
            for pair in by_probability(merged(found))
            if pair.probability >= _LEAST and pair.tactic not in self._missing
        ]


def closers(seen: View) -> Iterator[Suggestion]:
    """Yield tactics that prove a goal completely or fail.

    Cheap ones get a higher weight, because they take a millisecond.
    """
    everything = seen.symbols | seen.known_symbols
    logic = len(everything & CONNECTIVES) + (seen.conclusion.kind == "forall")
    numbers = any(label.startswith(_ARITHMETIC) for label in everything) or "nat" in everything
    equations = any("eq" in free_names(given.type) for given in seen.proofs)
    yield from (Suggestion("auto", 0.55), Suggestion("easy", 0.35), Suggestion("eauto", 0.2))
    yield from (
        Suggestion("tauto", 0.3 if logic > 1 else 0.05),
        Suggestion("intuition", 0.2 if logic > 1 else 0.04),
        Suggestion("firstorder", 0.15 if logic else 0.03),
    )
    yield Suggestion("congruence", 0.3 if equations else 0.03)
    yield from (
        Suggestion("lia", 0.4 if numbers else 0.0),
        Suggestion("auto with arith", 0.15 if numbers else 0.0),
        Suggestion("nia", 0.01 if numbers else 0.0),
    )
    yield from (
        Suggestion("intuition; subst; auto", 0.08 if logic else 0.03),
        Suggestion("intuition congruence", 0.1 if logic and equations else 0.02),
    )
    yield from (Suggestion("intros; simpl; auto", 0.08), Suggestion("subst; auto", 0.05 if equations else 0.01))
    yield from (Suggestion("firstorder congruence", 0.02), Suggestion("firstorder; subst; auto", 0.02))
    if any(label.startswith(("In", "List.", "Forall", "NoDup", "list", "app")) for label in everything):
        yield Suggestion("auto with datatypes", 0.12)
