"""Decisions under other settings: quick searches with the same seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError
from treetop.game.position import Position
from treetop.kernels.rules.rule import FpuRule
from treetop.search.batch import Batch
from treetop.search.config import SearchConfig
from treetop.search.evaluator import Evaluator, Heuristic, evaluate_batch, in_python, name_of
from treetop.search.explain import finite
from treetop.search.finals import Lcb
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.show.decisions import decisions


class Tempered:
    """An evaluator in Python whose priors are flattened (temperature above 1) or sharpened (below 1).

    >>> import treetop as tt
    >>> search = tt.Search("tic_tac_toe", tt.puct(), evaluator=Tempered(tt.evaluators.Uniform(), 2.0), seed=1)
    >>> search.run(tt.Limit(simulations=20)).simulations
    20
    """

    def __init__(self, evaluator: Evaluator, temperature: float) -> None:
        self.evaluator, self.temperature = evaluator, temperature
        self.name = f"{name_of(evaluator)}, prior temperature {temperature:g}"
        self.expand_after = int(getattr(evaluator, "expand_after", 0))

    def evaluate(self, batch: Batch) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        """Return the logits divided by the temperature, and the values."""
        logits, values = evaluate_batch(self.evaluator, batch)
        return np.asarray(logits) / self.temperature, values


@dataclass(frozen=True)
class Settings:
    """What is changed of a search; None leaves a setting as it is."""

    c: float | None = None
    fpu: float | None = None
    prior_temperature: float | None = None

    def search(
        self, position: Position, config: SearchConfig, evaluator: Any, seed: int
    ) -> tuple[Search, dict[str, Any]]:
        """Return a search with these settings, and the settings that it has; raise ConfigError where one does not fit.

        >>> import treetop as tt
        >>> _, known = Settings(c=0.5).search(tt.position("tic_tac_toe"), tt.uct(), tt.Rollout(), 1)
        >>> known["c"], known["adjustable"]
        (0.5, ['c', 'fpu'])
        """
        adjustable = _adjustable(config, evaluator)
        given = {name: value for name, value in vars(self).items() if value is not None}
        if wrong := sorted(set(given) - set(adjustable)):
            raise ConfigError(
                f"{', '.join(wrong)}: the rule {config.rule.name} with this evaluator has no such setting"
            )
        options: dict[str, Any] = {name: value for name, value in given.items() if name != "prior_temperature"}
        config = config.with_options(**options)
        if self.prior_temperature is not None:
            inner = in_python(evaluator)
            evaluator = Heuristic(self.prior_temperature) if inner is None else Tempered(inner, self.prior_temperature)
        known = {
            "rule": config.rule.name, "final": config.final.name, "evaluator": name_of(evaluator),
            "adjustable": adjustable,
            "c": finite(float(getattr(config.rule, "c", np.nan))), "fpu": getattr(config.rule, "fpu", None),
            "prior_temperature": getattr(evaluator, "prior_temperature", self.prior_temperature),
            "range": list(position.game.facts.value_range(step_rewards=position.game.has("step_rewards"))),
        }  # fmt: skip
        try:  # a final rule that needs variances, so that all final rules can decide
            search = Search(position, replace(config, final=Lcb()), evaluator=evaluator, seed=seed)
        except ConfigError:  # information sets keep none
            search = Search(position, config, evaluator=evaluator, seed=seed)
        return search, known


def _adjustable(config: SearchConfig, evaluator: Any) -> list[str]:
    """Return the settings that a rule with an evaluator has."""
    found = ["c"] if hasattr(config.rule, "c") else []
    found += ["fpu"] if isinstance(config.rule, FpuRule) else []
    has_priors = isinstance(evaluator, Heuristic) or in_python(evaluator) is not None
    return found + (["prior_temperature"] if config.rule.reads_priors and has_priors else [])


def described(result: SearchResult, final: str = "visits") -> dict[str, Any]:
    """Return the moves with their visits, means, deviations and priors, and the decision of each final rule.

    >>> import treetop as tt
    >>> found = described(tt.search("nim(stones=5)", tt.uct(final="lcb"), simulations=300, seed=1))
    >>> found["move"], found["finals"]["value"]["move"]
    ('1', '1')
    """
    columns = (result.counts, result.clipped_means, result.deviations, result.priors)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    finals = decisions(result)
    return {
        "seed": result.seed,
        "move": finals[final]["move"],
        "value": result.value,
        "moves": [[result.name_of(index), *map(finite, row)] for index, row in enumerate(rows)],
        "finals": finals,
    }


def rule_choices(position: Position) -> list[Mapping[str, str | None]]:
    """Return rules that fit a game, with their names for people; None is the rule of the server.

    >>> import treetop as tt
    >>> [one["name"] for one in rule_choices(tt.position("tic_tac_toe"))]
    ['recommended', 'UCB1', 'PUCT']
    """
    heuristic = position.game.has("heuristic") and not position.is_continuous
    return [
        {"name": "recommended", "rule": None},
        {"name": "UCB1", "rule": "uct"},
        {"name": "PUCT with the heuristic", "rule": "puct(c=1.5, evaluator='heuristic(prior_temperature=1)')"}
        if heuristic
        else {"name": "PUCT", "rule": "puct(c=1.5)"},
    ]
