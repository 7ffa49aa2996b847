"""Presets: settings that belong together, under the names of the field. They take flat options."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from treetop.errors import ConfigError
from treetop.kernels.rules import RULES, OwnRule, Rule
from treetop.search.config import SearchConfig, configure

ALPHAZERO_C, ALPHAZERO_BASE = 1.25, 19652.0
KATAGO_C, KATAGO_BASE = 1.0, 500.0


def uct(c: float = math.sqrt(2), **options: Any) -> SearchConfig:
    """Return the settings of UCT, UCB1 on trees, for searches by rollouts. `c` is for rewards from -1 to 1.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.uct(c=1.0, solver=True), simulations=100, seed=1).simulations
    100
    """
    return configure("ucb1", c=c, **options)


def puct(c: float | None = None, **options: Any) -> SearchConfig:
    """Return the settings of PUCT, for evaluators with priors.

    Without `c` it follows AlphaZero's schedule; a given `c` is constant.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.puct(c=1.5), simulations=100, seed=1).simulations
    100
    """
    schedule = options.get("c_schedule")
    if schedule == "katago":
        options.setdefault("c_base", KATAGO_BASE)
        return configure("puct", c=KATAGO_C if c is None else c, **options)
    if schedule == "divided":
        options.setdefault("c_log", 0.0)
    elif c is None and "c_base" not in options and schedule != "constant":
        options["c_base"] = ALPHAZERO_BASE
    return configure("puct", c=ALPHAZERO_C if c is None else c, **options)


def rave(c: float = 0.0, **options: Any) -> SearchConfig:
    """Return the settings of RAVE: moves with few visits use the statistics of all moves as first.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.rave(), simulations=100, seed=1).simulations
    100
    """
    return configure("rave", c=c, **options)


def grave(c: float = 0.0, amaf_reference: int = 100, **options: Any) -> SearchConfig:
    """Return the settings of GRAVE: RAVE in which nodes with few visits use the statistics of an ancestor.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.rules.grave(), simulations=100, seed=1).simulations
    100
    """
    return configure("rave", c=c, amaf_reference=amaf_reference, **options)


def regret_matching(**options: Any) -> SearchConfig:
    """Return the settings of regret matching, for simultaneous moves and imperfect information.

    The move to play is drawn from a mixed strategy.

    >>> import treetop as tt
    >>> tt.search("matching_pennies", tt.regret_matching(), simulations=1_000, seed=1).simulations
    1000
    """
    return configure("regret_matching", **{"final": "mixed", **options})


def gumbel(**options: Any) -> SearchConfig:
    """Return the settings of Gumbel search: for a known, small number of simulations and an evaluator with priors.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.gumbel(), simulations=100, seed=1).simulations
    100
    """
    return configure("completed", root="gumbel", **options)


def halving(rule: str = "ucb1", **options: Any) -> SearchConfig:
    """Return the settings of anytime sequential halving at the root, with a rule below it: for the best final move.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.rules.halving(), simulations=100, seed=1).simulations
    100
    """
    return configure(rule, root="halving", **options)


def nexus(**options: Any) -> SearchConfig:
    """Return the settings of a neural search with the usual refinements: PUCT, FPU, noise that decays, a solver.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.rules.nexus(), simulations=100, seed=1).simulations
    100
    """
    defaults: dict[str, Any] = {
        "c": 2.5, "max_depth": 100, "fpu": "parent", "fpu_reduction": 0.25, "noise": 0.25, "noise_final": 0.05,
        "noise_alpha": 0.3, "final": "temperature", "temperature": 1.0, "temperature_decay": 0.98,
        "temperature_final": 0.1, "solver": True,
    }  # fmt: skip
    return configure("puct", **{**defaults, **options})


def preset_of(rule: type[Rule]) -> Callable[..., SearchConfig]:
    """Return the preset of a rule: the rule with its own defaults, under its own name."""

    def preset(*arguments: Any, **options: Any) -> SearchConfig:
        names = [one.name for one in fields(rule) if one.name == "c"]
        if len(arguments) > len(names):
            raise ConfigError(f"{rule.name} takes {' and '.join(names) or 'nothing'} by position; give options by name")
        return configure(rule.name, **dict(zip(names, arguments, strict=False)), **options)

    preset.__name__ = preset.__qualname__ = rule.name
    preset.__doc__ = _preset_doc(rule)
    return preset


def _preset_doc(rule: type[Rule]) -> str:
    """Return the docstring of a rule's preset: that of the rule, with an example of the preset instead of its own."""
    about = (inspect.getdoc(rule) or "").partition(">>>")[0].rstrip()
    return f"""Return the settings of the rule {rule.name!r}. {about}

    >>> import treetop as tt
    >>> tt.rules.{rule.name}() == tt.SearchConfig(rule=tt.rules.{rule.__name__}())
    True
    >>> tt.search("tic_tac_toe", tt.rules.{rule.name}(), simulations=100, seed=1).simulations
    100
    """


PRESETS: dict[str, Callable[..., SearchConfig]] = {
    rule.name: preset_of(rule) for rule in RULES if rule is not OwnRule
} | {preset.__name__: preset for preset in (uct, puct, rave, grave, regret_matching, gumbel, halving, nexus)}
"""Every preset by its name, for players and commands that are given one as text: those above, and one for each rule."""

__test__ = {name: preset for name, preset in PRESETS.items() if name not in globals()}
"""The presets that have no name in this module, for doctest to find their examples."""
