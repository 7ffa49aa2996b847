"""Providers of tactics that work with any prover: fixed lists, filters and combinations.

The probabilities of a provider are weights: finite, not negative, larger for better tactics. They are checked at once,
because sorting by NaN fails silently.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from treetop import checks
from treetop.errors import ConfigError
from treetop.prove.abilities import ExtensibleProvider
from treetop.prove.prover import Goal, Provider, Suggestion

_EASY = """
auto eauto info_auto info_eauto debug_auto debug_eauto trivial info_trivial debug_trivial easy now done tauto dtauto
rtauto btauto intuition dintuition gintuition firstorder congruence lia nia lra nra psatz omega romega fourier ring
field nsatz decide prolog
sauto hauto qauto strivial sfirstorder scongruence sintuition hammer hfcrush fcrush qcrush qblast solve_constraints
"""
EASY = frozenset(_EASY.split())
"""Tactics that search for a whole proof by themselves. Experiments block them, because what they prove does not measure
the search."""

_SILENT = re.compile(r'"(?:[^"]|"")*"|\(\*.*?\*\)', re.DOTALL)
_WORD = re.compile(r"[^\W\d][\w']*(?:\.[^\W\d][\w']*)*")
_TERMINATOR = re.compile(r"(?:^|[;\[|(])\s*by\b(?![\w'.])|//")  # ssreflect: `by tactic` and `//` end with `done`


@lru_cache(maxsize=1 << 16)  # the same tactics are suggested at goal after goal
def is_easy(tactic: str) -> bool:
    """Return whether a tactic that searches for whole proofs occurs anywhere in the text: alone, after `;`, inside
    `try` or `by`, with arguments.

    Names that only contain such a word (`auto_spec`, `Nat.easy`, `trivial'`), strings and comments do not count.

    >>> is_easy("intros; auto"), is_easy("apply auto_spec")
    (True, False)
    """
    spoken = _SILENT.sub(" ", tactic)
    return any(word in EASY for word in _WORD.findall(spoken)) or _TERMINATOR.search(spoken) is not None


def checked(suggestions: Iterable[Suggestion], name: str = "a provider") -> list[Suggestion]:
    """Return the suggestions as a list; raise ConfigError unless all probabilities are finite and not negative."""
    result = [Suggestion(*pair) for pair in suggestions]
    for tactic, probability in result:
        checks.number(f"{name}: the probability of `{tactic}`", probability, 0)
    return result


def by_probability(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Return the suggestions sorted by probability. The sort is stable."""
    return sorted(suggestions, key=lambda pair: -pair.probability)


def check_ranking(before: Sequence[Suggestion], after: Sequence[Suggestion]) -> None:
    """Raise ConfigError unless a ranking holds the same pairs as before."""
    had, has = Counter(tuple(pair) for pair in before), Counter(tuple(pair) for pair in after)
    if had == has:
        return
    differences = [
        f"{kind}: "
        + ", ".join(
            f"`{pair[0]}` ({pair[1]!r})" + (f" x {count}" if count > 1 else "") for pair, count in difference.items()
        )
        for kind, difference in (("missing", had - has), ("added", has - had))
        if difference
    ]
    raise ConfigError(
        f"a ranker may only change the order of suggestions: it was given {len(before)} and returned {len(after)}; "
        + "; ".join(differences)
    )


def merged(suggestions: Iterable[Suggestion]) -> list[Suggestion]:
    """Return each tactic once, with its highest probability, in the order of first appearance."""
    best: dict[str, float] = {}
    for tactic, probability in suggestions:
        best[tactic] = max(probability, best.get(tactic, 0.0))
    return [Suggestion(tactic, probability) for tactic, probability in best.items()]


class FixedProvider:
    """Suggests the same tactics at every goal.

    >>> FixedProvider([("auto", 0.6), ("intro", 0.4)]).suggest(None)[0].tactic
    'auto'
    """

    def __init__(self, suggestions: Iterable[tuple[str, float]], name: str = "fixed") -> None:
        self.name = name
        self._suggestions = checked((Suggestion(*pair) for pair in suggestions), name)
        twice = [tactic for tactic, count in Counter(pair.tactic for pair in self._suggestions).items() if count > 1]
        if twice:
            raise ConfigError(f"{name}: the tactic `{twice[0]}` is listed twice")

    def suggest(self, goal: Goal) -> list[Suggestion]:  # noqa: ARG002  the same everywhere
        """Return the list."""
        return list(self._suggestions)


class FilteredProvider:
    """Removes tactics of another provider, and requests more from it to replace them if it can suggest more.

    >>> FilteredProvider(FixedProvider([("auto", 0.6), ("intro", 0.4)])).suggest(None)[0].tactic
    'intro'
    """

    def __init__(self, base: Provider, blocked: Callable[[str], bool] = is_easy) -> None:
        self.name = f"{base.name}, filtered"
        self.blocked: Counter[str] = Counter()
        """How often each tactic was removed."""
        self._base = base
        self._is_blocked = blocked

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """Return the other provider's suggestions that pass the filter."""
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
    """Combines several providers: each probability is multiplied by the provider's weight; if several suggest a tactic,
    the highest counts.
    """

    def __init__(self, providers: Sequence[Provider], weights: Sequence[float] | None = None) -> None:
        weights = [1.0] * len(providers) if weights is None else list(weights)
        if not providers or len(weights) != len(providers):
            raise ConfigError(
                "there must be one weight for each provider, and at least one provider, "
                f"not {len(weights)} for {len(providers)}"
            )
        if any(not 0.0 <= weight < math.inf for weight in weights):
            raise ConfigError(f"weights must be finite and at least 0, not {weights!r}")
        self.name = " + ".join(provider.name for provider in providers)
        self._parts = list(zip(providers, weights, strict=True))

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """Return all suggestions, sorted by probability."""
        return self._mix([provider.suggest(goal) for provider, _ in self._parts])

    def suggest_more(self, goal: Goal, count: int) -> list[Suggestion]:
        """Return at most `count` suggestions of all providers."""
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
