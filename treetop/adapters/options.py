"""The base of policies by search, whose arguments are checked when they are made, not at their first step."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from treetop import checks
from treetop.compiler.rng import mix
from treetop.errors import ConfigError
from treetop.search.config import SearchConfig
from treetop.search.config import option_names as search_options
from treetop.search.limits import Limit
from treetop.search.result import SearchResult


class SearchPolicy:
    """The base of policies by search: their arguments, and a separate seed for each call."""

    problem: type
    """The problem that is made of an environment; it takes the further options."""
    default = "uct()"
    """The config of a policy that is given none."""

    def __init__(
        self,
        limit: Limit | None = None,
        config: SearchConfig | None = None,
        *,
        evaluator: Any = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.limit = Limit(simulations=200) if limit is None else limit
        check_policy(type(self).__name__, self.problem, self.limit, config, seed, options)
        self._check(options)
        self.config, self.evaluator, self.seed, self.options = config, evaluator, seed, options
        self.last_result: SearchResult | None = None
        """The result of the last search."""
        self._calls = 0

    def _check(self, options: Mapping[str, Any]) -> None:
        """Refuse options of the problem that are out of range."""

    def _next_seed(self) -> int:
        seed = mix(mix(self.seed) + self._calls) >> 1
        self._calls += 1
        return seed

    def __repr__(self) -> str:
        return f"<policy by search: {self.config or self.default}, {self.limit}>"


def check_policy(
    policy: str, problem: type, limit: object, config: object, seed: object, options: Mapping[str, Any]
) -> None:
    """Refuse arguments of a policy that its searches could not use; `options` go to the problem."""
    if not isinstance(limit, Limit):
        raise ConfigError(f"limit of {policy} must be a Limit such as Limit(simulations=200), not {limit!r}")
    if config is not None and not isinstance(config, SearchConfig):
        raise ConfigError(
            f"config of {policy} must be uct(...), puct(...), another preset or a SearchConfig, not {config!r}"
        )
    checks.whole("seed", seed)
    refuse_unknown(policy, options, option_names(problem))


def option_names(problem: type) -> list[str]:
    """Return the keyword options of a problem."""
    parameters = inspect.signature(problem.__init__).parameters.values()  # type: ignore[misc]
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def refuse_unknown(owner: str, options: Iterable[str], known: list[str]) -> None:
    """Refuse unknown options, and say where they belong."""
    for option in options:
        if option in known:
            continue
        if option in {field.name for field in dataclasses.fields(Limit)}:
            hint = f"it belongs to the limit: limit=Limit({option}=...)"
        elif option in search_options():
            hint = f"it belongs to the config: config=uct({option}=...)"
        else:
            hint = checks.suggest(option, known)
        raise ConfigError(f"{owner} has no option {option!r}; {hint}")
