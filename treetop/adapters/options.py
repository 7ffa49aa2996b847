"""Check the arguments of policies when they are made, not at their first step."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.search.config import SearchConfig
from treetop.search.limits import Limit


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
        elif option in {field.name for field in dataclasses.fields(SearchConfig)}:
            hint = f"it belongs to the config: config=uct({option}=...)"
        else:
            hint = checks.suggest(option, known)
        raise ConfigError(f"{owner} has no option {option!r}; {hint}")
