"""Settings that go together, each under the name that people know."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treetop.search.config import SearchConfig, make_config

ALPHAZERO_C, ALPHAZERO_BASE = 1.25, 19652.0
KATAGO_C, KATAGO_BASE = 1.0, 500.0


def uct(c: float = math.sqrt(2), **options: Any) -> SearchConfig:
    """UCB1 on trees: the choice for searches by rollouts. `c` is for rewards from -1 to 1 or thereabouts."""
    return make_config(rule="ucb1", c=c, **options)


def puct(c: float | None = None, **options: Any) -> SearchConfig:
    """PUCT: the choice where priors exist. Without `c` it follows AlphaZero's schedule, with it c is constant."""
    schedule = options.get("c_schedule")
    if schedule == "katago":
        options.setdefault("c_base", KATAGO_BASE)
        return make_config(rule="puct", c=KATAGO_C if c is None else c, **options)
    if schedule == "divided":
        options.setdefault("c_log", 0.0)
    elif c is None and "c_base" not in options and schedule != "constant":
        options["c_base"] = ALPHAZERO_BASE
    return make_config(rule="puct", c=ALPHAZERO_C if c is None else c, **options)


def ucb1_tuned(c: float = 1.0, **options: Any) -> SearchConfig:
    """UCB1 whose bonus follows the variance that was seen of each move."""
    return make_config(rule="ucb1_tuned", c=c, **options)


def ucb_v(c: float = 1.0, **options: Any) -> SearchConfig:
    """UCB-V: a bonus for variance, and one for what is little known."""
    return make_config(rule="ucb_v", c=c, **options)


def rave(c: float = 0.0, **options: Any) -> SearchConfig:
    """RAVE: a move is judged by every simulation in which it was played, as long as its own visits are few."""
    return make_config(rule="rave", c=c, **options)


def grave(c: float = 0.0, amaf_reference: int = 100, **options: Any) -> SearchConfig:
    """GRAVE: RAVE in which young nodes borrow the statistics of an ancestor with many visits."""
    return make_config(rule="rave", c=c, amaf_reference=amaf_reference, **options)


def history(c: float = math.sqrt(2), **options: Any) -> SearchConfig:
    """Progressive history: UCB1 that favours, for a while, what was good elsewhere in the game."""
    return make_config(rule="history", c=c, **options)


def thompson(**options: Any) -> SearchConfig:
    """Thompson sampling: each move's value is drawn from what it may be, and the highest draw is followed."""
    return make_config(rule="thompson", **options)


def blind(**options: Any) -> SearchConfig:
    """Every move as likely as the other: the baseline that a rule has to beat."""
    return make_config(rule="blind", **options)


def regret(**options: Any) -> SearchConfig:
    """Regret matching, for moves made at once and for hidden cards: a mixed strategy, from which the move is drawn."""
    return make_config(rule="regret", **{"final": "mixed", **options})


def gumbel(**options: Any) -> SearchConfig:
    """Gumbel numbers and sequential halving at the root, completed values below: for few simulations, known beforehand."""
    return make_config(rule="completed", root="gumbel", **options)


def halving(c: float = math.sqrt(2), **options: Any) -> SearchConfig:
    """Anytime sequential halving at the root, UCB1 below: for the best move, and not for the best reward on the way."""
    return make_config(rule=options.pop("rule", "ucb1"), c=c, root="halving", **options)


def nexus(**options: Any) -> SearchConfig:
    """A neural search with every usual refinement: PUCT with c = 2.5, first play 0.25 below the parent, noise that fades, transpositions off."""
    defaults: dict[str, Any] = {
        "c": 2.5,
        "max_depth": 100,
        "first_play": "parent",
        "first_play_reduction": 0.25,
        "noise": 0.25,
        "noise_final": 0.05,
        "noise_alpha": 0.3,
        "final": "temperature",
        "temperature": 1.0,
        "temperature_decay": 0.98,
        "temperature_final": 0.1,
        "solver": True,
    }
    return make_config(rule="puct", **{**defaults, **options})


PRESETS: dict[str, Callable[..., SearchConfig]] = {
    preset.__name__: preset
    for preset in (uct, puct, ucb1_tuned, ucb_v, rave, grave, history, thompson, blind, regret, gumbel, halving, nexus)
}
"""Every preset by its name, for players and commands that are given one as text."""
