"""Suggest the tactics that were used at similar goals in finished proofs.

Goals are compared by features: symbols, forms of hypotheses, which symbol occurs under which; rare features count more
than common ones. The names of hypotheses in a tactic are replaced by those of the same form in the goal; if there is
none, the tactic is left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

from treetop import checks
from treetop.errors import ConfigError
from treetop.prove.coq.goals import CoqGoal
from treetop.prove.coq.recording import Example
from treetop.prove.coq.syntax import Term
from treetop.prove.coq.terms import arguments, canonical, conclusion, free_names, head, name, peel, substitute, subterms
from treetop.prove.coq.views import View, view
from treetop.prove.prover import Goal, Suggestion
from treetop.prove.providers import by_probability, merged

_WORD = re.compile(r'"(?:[^"]|"")*"|[^\W\d][\w\']*(?:\.[^\W\d][\w\']*)*')
_SHARED = 0.5  # features of more than this share of all goals are ignored


class NeighbourProvider:
    """Stores examples and suggests the tactics of the most similar ones.

    `most`: how many suggestions a goal gets; `nearest`: how many similar goals are considered. Probabilities are
    similarities from 0 to 1, halved, and raised if several neighbours agree.
    """

    name = "neighbours"

    def __init__(self, examples: Iterable[Example], *, most: int = 16, nearest: int = 40) -> None:
        checks.whole("most", most, 1)
        checks.whole("nearest", nearest, 1)
        self._most, self._nearest = most, nearest
        self._examples = list({(example.goal.key, example.tactic): example for example in examples}.values())
        self._features = [features(view(example.goal)) for example in self._examples]
        self._frequency = Counter(feature for own in self._features for feature in own)
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, own in enumerate(self._features):
            for feature in own:
                self._holders[feature].append(number)
        self._weights = [sum(self._rarity(feature) for feature in own) for own in self._features]

    def __len__(self) -> int:
        return len(self._examples)

    def suggest(self, goal: Goal) -> list[Suggestion]:
        """Return the tactics of the most similar goals, translated to this one, the most probable first."""
        return self.suggest_more(goal, self._most)

    def suggest_more(self, goal: Goal, count: int) -> list[Suggestion]:
        """Return at most `count` suggestions."""
        if not isinstance(goal.data, CoqGoal):
            raise ConfigError(f"`{goal}` is not a goal of Coq: its data is {type(goal.data).__name__}")
        here = view(goal.data)
        votes: defaultdict[str, list[float]] = defaultdict(list)
        for number, similarity in self.similar(goal.data)[: max(self._nearest, count)]:
            example = self._examples[number]
            tactic = renamed(example.tactic, view(example.goal), here)
            if tactic is not None:
                votes[tactic].append(similarity)
        found = [
            Suggestion(tactic, 0.5 * (1.0 - math.prod(1.0 - 0.9 * one**2 for one in given)))
            for tactic, given in votes.items()
        ]
        return by_probability(merged(pair for pair in found if pair.probability > 0.0))[:count]

    def similar(self, goal: CoqGoal) -> list[tuple[int, float]]:
        """Return the numbers of the examples that share a feature with a goal and their similarities from 0 to 1,
        nearest first.
        """
        own = features(view(goal))
        common: defaultdict[int, float] = defaultdict(float)
        for feature in own:
            holders = self._holders.get(feature, [])
            if len(holders) <= max(10.0, _SHARED * len(self._examples)):
                weight = self._rarity(feature)
                for number in holders:
                    common[number] += weight
        total = sum(self._rarity(feature) for feature in own)
        scored = [(number, shared / (total + self._weights[number] - shared)) for number, shared in common.items()]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))

    def _rarity(self, feature: str) -> float:
        return math.log((2 + len(self._examples)) / (1 + self._frequency[feature]))


@lru_cache(maxsize=20_000)
def features(seen: View) -> frozenset[str]:
    """Return the features of a goal, as a set of words."""
    binders, stated = peel(seen.conclusion)
    found = {f"concludes {head(stated)}", f"begins {head(seen.conclusion)}"}
    found.update(f"binders {count}" for count in range(1, min(len(binders), 4) + 1))
    found.update(f"mentions {label}" for label in seen.symbols)
    for part in subterms(seen.conclusion):
        if part.kind == "app" and not (above := head(part)).startswith("<"):
            found.update(f"under {above} {place} {_kind(below, seen)}" for place, below in enumerate(arguments(part)))
        elif part.kind in ("match", "if", "fix"):
            found.add(f"has {part.kind}")
    for given in seen.proofs:
        found.add(f"knows {head(conclusion(given.type))}")
        found.add(f"knows that {shape(given.type, seen)}")
    found.update(f"has {head(given.type)}" for given in seen.data)
    return frozenset(found)


def _kind(term: Term, seen: View) -> str:
    symbol = head(term)
    return "variable" if symbol in seen.names else symbol


def shape(kind: Term, seen: View) -> str:
    """Return a type without the names of the goal: equal for hypotheses that state the same about other variables."""
    blank = {label: name("?") for label in free_names(kind) & seen.names}
    return repr(canonical(substitute(kind, blank)))


def renamed(tactic: str, there: View, here: View) -> str | None:
    """Return a tactic of one goal translated to another; None if it uses something that has no counterpart."""
    exchanged: dict[str, str] = {}
    pieces: list[str] = []
    end = 0
    for found in _WORD.finditer(tactic):
        word = found[0]
        if word.startswith('"'):
            continue
        new = exchanged.get(word) or _counterpart(word, there, here, exchanged)
        if new is None:
            return None
        exchanged[word] = new
        pieces += [tactic[end : found.start()], new]
        end = found.end()
    return "".join([*pieces, tactic[end:]])


def _counterpart(word: str, there: View, here: View, exchanged: dict[str, str]) -> str | None:
    """Return the translation of a word of a tactic; words that are not names of the other goal stay."""
    taken = set(exchanged.values())
    if word in there.by_name:
        old = there.by_name[word]
        alike = [given.name for given in reversed(here.givens) if given.role == old.role and given.name not in taken]
        form = shape(old.type, there)
        exact = [label for label in alike if shape(here.by_name[label].type, here) == form]
        near = (
            [label for label in alike if head(conclusion(here.by_name[label].type)) == head(conclusion(old.type))]
            if old.is_proof
            else []
        )
        return next((label for options in (exact, near) for label in _same_first(word, options)), None)
    quantified = _quantified(there)
    if word in quantified:
        form = shape(quantified[word], there)
        own = _quantified(here)
        return next(
            iter(
                _same_first(
                    word, [label for label, kind in own.items() if shape(kind, here) == form and label not in taken]
                )
            ),
            None,
        )
    return word


def _quantified(seen: View) -> dict[str, Term]:
    return {binder.name: binder.type for binder in peel(seen.conclusion)[0] if binder.name != "_"}


def _same_first(word: str, options: list[str]) -> Iterator[str]:
    if word in options:
        yield word
    yield from options
