"""Those who suggest tactics, whatever the prover: fixed lists, filters, rankings and mixtures.

The probabilities of a provider are weights: finite, not negative, larger where a tactic seems likelier. Whoever breaks that is told at once, because
a search that sorts by a value that is not a number goes wrong without a word.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from treetop.errors import ConfigError
from treetop.prove.abilities import ExtensibleProvider
from treetop.prove.prover import Goal, Provider, Suggestion

_EASY = """
auto eauto info_auto info_eauto debug_auto debug_eauto trivial info_trivial debug_trivial easy now done tauto dtauto rtauto btauto
intuition dintuition gintuition firstorder congruence lia nia lra nra psatz omega romega fourier ring field nsatz decide prolog
sauto hauto qauto strivial sfirstorder scongruence sintuition hammer hfcrush fcrush qcrush qblast solve_constraints
"""
EASY = frozenset(_EASY.split())
"""Tactics that search for a whole proof by themselves. Experiments block them: what they prove says nothing of the search."""

_SILENT = re.compile(r'"(?:[^"]|"")*"|\(\*.*?\*\)', re.DOTALL)
_WORD = re.compile(r"[^\W\d][\w']*(?:\.[^\W\d][\w']*)*")
_TERMINATOR = re.compile(r"(?:^|[;\[|(])\s*by\b(?![\w'.])|//")  # ssreflect: `by tactic` and `//` end with `done`


@lru_cache(maxsize=1 << 16)  # the same tactics are suggested at goal after goal
def is_easy(tactic: str) -> bool:
    """Whether a tactic that searches for whole proofs occurs anywhere in the text: alone, after `;`, inside `try` or `by`, with arguments.

    Names that only contain such a word (`auto_spec`, `Nat.easy`, `trivial'`), strings and comments do not count.
    """
    spoken = _SILENT.sub(" ", tactic)
    return any(word in EASY for word in _WORD.findall(spoken)) or _TERMINATOR.search(spoken) is not None


def checked(suggestions: Iterable[Suggestion], name: str = "a provider") -> list[Suggestion]:
    """The suggestions as a list, once it is sure that all probabilities are finite and not negative."""
    result = [Suggestion(*pair) for pair in suggestions]
    for tactic, probability in result:
        if (
            isinstance(probability, bool)
            or not isinstance(probability, (int, float))
            or not 0.0 <= probability < math.inf
        ):
            raise ConfigError(
                f"{name}: the probability of `{tactic}` must be a finite number of at least 0, not {probability!r}"
            )
    return result


def by_probability(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """The likeliest first; those that are equally likely stay in their order."""
    return sorted(suggestions, key=lambda pair: -pair.probability)


def check_ranking(before: Sequence[Suggestion], after: Sequence[Suggestion]) -> None:
    """A ranking must hold the same pairs as often as before, else a `ConfigError` says what is missing and what was added."""
    had, has = Counter(tuple(pair) for pair in before), Counter(tuple(pair) for pair in after)
    if had == has:
        return
    told = [
        f"{kind}: "
        + ", ".join(
            f"`{pair[0]}` ({pair[1]!r})" + (f" x {count}" if count > 1 else "") for pair, count in difference.items()
        )
        for kind, difference in (("missing", had - has), ("added", has - had))
        if difference
    ]
    raise ConfigError(
        f"a ranker only changes the order: {len(before)} suggestions went in, {len(after)} came out; {'; '.join(told)}"
    )


def merged(suggestions: Iterable[Suggestion]) -> list[Suggestion]:
    """No tactic twice: the highest probability stays, at the place where the tactic came first."""
    best: dict[str, float] = {}
    for tactic, probability in suggestions:
        best[tactic] = max(probability, best.get(tactic, 0.0))
    return [Suggestion(tactic, probability) for tactic, probability in best.items()]


class FixedProvider:
    """The same tactics at every goal."""

    def __init__(self, suggestions: Iterable[tuple[str, float]], name: str = "fixed") -> None:
        self.name = name
        self._suggestions = checked((Suggestion(*pair) for pair in suggestions), name)
        twice = [tactic for tactic, count in Counter(pair.tactic for pair in self._suggestions).items() if count > 1]
        if twice:
            raise ConfigError(f"{name}: no tactic stands twice in a list, but `{twice[0]}` does")

    def suggest(self, goal: Goal) -> list[Suggestion]:  # noqa: ARG002  the same everywhere
        """The list."""
        return list(self._suggestions)


class FilteredProvider:
    """Leaves out tactics of another provider, and asks it for more so that there are as many as before where it knows as many."""

    def __init__(self, base: Provider, blocked: Callable[[str], bool] = is_easy) -> None:
        self.name = f"{base.name}, filtered"
        self.blocked: Counter[str] = Counter()
        """How often each tactic was left out."""
        self._base = base
        self._is_blocked = blocked

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """What the other provider suggests and the filter lets pass."""
        offered = self._base.suggest(goal)
        wanted = asked = len(offered)
        kept = self._pass(offered)
        while len(kept) < wanted and isinstance(self._base, ExtensibleProvider):
            asked *= 2
            longer = self._base.suggest_more(goal, asked)
            grown = len(longer) > len(offered)
            offered, kept = longer, self._pass(longer)
            if not grown:
                break
        self.blocked.update(pair.tactic for pair in offered if self._is_blocked(pair.tactic))
        return kept[:wanted]

    def _pass(self, offered: list[Suggestion]) -> list[Suggestion]:
        return [pair for pair in offered if not self._is_blocked(pair.tactic)]


class Combined:
    """Several providers as one: probabilities times the provider's weight; of a tactic that several suggest the highest counts."""

    def __init__(self, providers: Sequence[Provider], weights: Sequence[float] | None = None) -> None:
        weights = [1.0] * len(providers) if weights is None else list(weights)
        if not providers or len(weights) != len(providers):
            raise ConfigError(
                f"as many weights as providers, and at least one of each, not {len(weights)} for {len(providers)}"
            )
        if any(not 0.0 <= weight < math.inf for weight in weights):
            raise ConfigError(f"weights are finite and at least 0, not {weights!r}")
        self.name = " + ".join(provider.name for provider in providers)
        self._parts = list(zip(providers, weights, strict=True))

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """All suggestions, the likeliest first."""
        return self._mix([provider.suggest(goal) for provider, _ in self._parts])

    def suggest_more(self, goal: Goal, count: int) -> list[Suggestion]:
        """As many as the parts have, up to `count`."""
        return self._mix(
            [
                part.suggest_more(goal, count) if isinstance(part, ExtensibleProvider) else part.suggest(goal)
                for part, _ in self._parts
            ]
        )[:count]

    def _mix(self, lists: list[list[Suggestion]]) -> list[Suggestion]:
        weighted = [
            Suggestion(tactic, probability * weight)
            for (provider, weight), pairs in zip(self._parts, lists, strict=True)
            for tactic, probability in checked(pairs, provider.name)
        ]
        return by_probability(merged(weighted))
