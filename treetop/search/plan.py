"""From a search's settings to what its kernels need: a build, columns, and numbers in the control record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.digest import digest
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.kernels import control as codes
from treetop.kernels.build import AMAF, GENERAL, GENERAL_RICH, GRAPH, PLAIN, RICH, SOLVER, Build
from treetop.search.config import SearchConfig
from treetop.search.evaluator import CompiledEvaluator
from treetop.search.rule import Rule
from treetop.types import NONE

_RULES = {
    "ucb1": codes.UCB1,
    "puct": codes.PUCT,
    "ucb1_tuned": codes.TUNED,
    "ucb_v": codes.UCBV,
    "rave": codes.RAVE,
    "history": codes.HISTORY,
    "thompson": codes.THOMPSON,
    "blind": codes.BLIND,
    "completed": codes.COMPLETED,
    "regret": codes.REGRET,
}
_SCHEDULES = {
    "constant": codes.CONSTANT,
    "alphazero": codes.ALPHAZERO,
    "katago": codes.KATAGO,
    "divided": codes.DIVIDED,
}
_BACKUPS = {"mean": codes.MEAN, "max": codes.MIXED, "mixed": codes.MIXED, "implicit": codes.IMPLICIT}
_ROOTS = {"rule": codes.AS_BELOW, "gumbel": codes.GUMBEL, "halving": codes.HALVING}
_VIRTUALS = {"watch": codes.WATCH, "loss": codes.LOSS, "mix": codes.LOSS_THEN_WATCH}
_TABLE_SIZE = 2**20


@dataclass(frozen=True)
class Plan:
    """What a search needs, derived from its settings once."""

    build: Build
    columns: frozenset[str]
    normalise: bool
    table_size: int

    @property
    def rich(self) -> Build:
        """The build for what a caller may ask of the root at any time; for a graph there is none."""
        return self.build if self.build.rich else GENERAL_RICH if self.build.general else RICH


def make_plan(config: SearchConfig, evaluator: Any, game: Game) -> Plan:
    """Choose the smallest build that has all that is asked for; refuse what the game or another option rules out."""
    if isinstance(evaluator, CompiledEvaluator):
        evaluator.check(game)
    if config.rule == "regret":
        raise ConfigError(
            f"regret matching is for moves made at once and for hidden cards; {game.name} has neither, so its best moves need no lot"
        )
    if config.backup == "implicit" and not game.has("heuristic"):
        raise ConfigError(f"backup='implicit' asks for the game's own `heuristic`, which {game.name} does not have")
    low, high = game.facts.rewards
    if config.repetition is not None and not low <= config.repetition <= high:
        raise ConfigError(
            f"repetition must lie in the utility range of {game.name}, {low:g} to {high:g}; not {config.repetition!r}"
        )
    wide = high - low > 2 and config.rule != "rave"  # RAVE blends plain means
    normalise = wide if config.normalise is None else config.normalise
    rich = _is_rich(config, evaluator, normalise and not config.transpositions)
    general = is_general(config, game)
    if general:
        _check_general(config, game)
    columns: set[str] = set()
    if (
        config.rule in ("ucb1_tuned", "ucb_v", "thompson")
        or isinstance(config.rule, Rule)
        or config.variance_scale
        or config.final in ("secure", "lcb")
    ):
        columns |= {"squares"}
    if config.backup != "mean":
        columns |= {"vectors"}
    if config.solver:
        columns |= {"bounds", "distances"}
    if config.rule == "rave":
        columns |= {"amaf"}
    if config.rule == "completed" or config.root == "gumbel":
        columns |= {"own_sums", "own_visits"}
    if config.transpositions:
        _check_graph(config, evaluator, game, rich)
        columns |= {"keys", "own_sums", "own_visits", "path_visits", "path_sums"}
    build = (
        _general_build(config, rich)
        if general
        else RICH
        if rich
        else GRAPH
        if config.transpositions
        else AMAF
        if config.rule == "rave"
        else SOLVER
        if config.solver
        else PLAIN
    )
    if isinstance(config.rule, Rule):
        # Named by its content: what a rule reads from outside may change in a session.
        content = digest({"rule": config.rule.compiled.function}, {})
        build = replace(build, name=f"rich {config.rule.name} {content}", rule=config.rule.compiled)
    return Plan(build, frozenset(columns), normalise and not config.transpositions, _table_size(config))


def is_general(config: SearchConfig, game: Game) -> bool:
    """Whether a search needs a build for chance, for rewards on the way, or for players who gang up."""
    return game.has("chance_outcomes") or game.has("step_rewards") or config.opponents == "paranoid"


def _general_build(config: SearchConfig, rich: bool) -> Build:
    return GENERAL_RICH if rich or config.rule == "rave" else GENERAL


def _check_general(config: SearchConfig, game: Game) -> None:
    if config.transpositions:
        raise ConfigError(
            f"transpositions are for games without chance and without rewards on the way, each player for himself; {game.name} with these settings is not"
        )
    if config.solver and (game.has("step_rewards") or config.opponents == "paranoid"):
        why = "rewards come on the way" if game.has("step_rewards") else "the others are only taken to play against one"
        raise ConfigError(f"the solver proves what the end of a game is worth, but here {why}: leave solver out")


def _is_rich(config: SearchConfig, evaluator: Any, normalise: bool) -> bool:
    first_play_needs_it = isinstance(config.first_play, str) or (
        config.rule != "puct" and config.first_play is not None
    )
    return (
        config.rule not in ("ucb1", "puct", "rave")
        or config.schedule not in ("constant", "alphazero")
        or config.variance_scale > 0
        or config.amaf_k is not None
        or first_play_needs_it
        or config.backup != "mean"
        or config.discount != 1.0
        or normalise
        or config.widening is not None
        or config.root != "rule"
        or config.forced_playouts > 0
        or config.final in ("secure", "lcb")
        or config.virtual != "watch"
        or bool(getattr(evaluator, "is_rich", False))
    )


def _check_graph(config: SearchConfig, evaluator: Any, game: Game, rich: bool) -> None:
    if not game.has("key"):
        raise ConfigError(f"transpositions are found by the game's own `key`, which {game.name} does not have")
    if rich:
        told = (
            f"the evaluator {evaluator!r}"
            if getattr(evaluator, "is_rich", False)
            else "first_play other than a number for PUCT, or normalise"
        )
        raise ConfigError(f"transpositions do not go with {told}")
    if config.normalise:
        raise ConfigError("transpositions do not go with normalise")


def _table_size(config: SearchConfig) -> int:
    """A power of two, so that a key's lowest bits are a place."""
    if not config.transpositions:
        return 1
    wanted = _TABLE_SIZE if config.transpositions is True else int(config.transpositions)
    return 1 << (wanted.bit_length() - 1)


def make_control(config: SearchConfig, evaluator: Any, expand_after: int, game: Game, plan: Plan) -> npt.NDArray[Any]:
    """The control record with every setting in its place."""
    facts = game.facts
    least, greatest = facts.allowed_values(step_rewards=game.has("step_rewards"), discount=config.discount)
    control = np.zeros(1, codes.CONTROL)
    low, high = facts.rewards
    named = isinstance(config.first_play, str)
    settings: dict[str, float] = {
        "rule": codes.CUSTOM if isinstance(config.rule, Rule) else _RULES[config.rule],
        "tie_break": codes.ASK
        if callable(config.tie_break)
        else codes.FIRST
        if config.tie_break == "first"
        else codes.RANDOM,
        "expand_after": expand_after,
        "max_depth": np.iinfo(np.int32).max if config.max_depth is None else config.max_depth,
        "max_length": facts.max_length,
        "num_actions": facts.num_actions,
        "players": facts.players,
        "num_outcomes": facts.num_outcomes or 0,
        "most_children": facts.most_children,
        "chance_expected": config.chance == "expected",
        "chance_widening": config.chance_widening or 0.0,
        "on_the_way": game.has("step_rewards"),
        "hunted": NONE,
        "c": config.c,
        "c_base": config.c_base or 0.0,
        "middle": facts.middle,
        "low": low,
        "high": high,
        "least_value": least,
        "greatest_value": greatest,
        "solver": config.solver,
        "first_play": facts.middle if config.first_play is None or named else float(config.first_play),
        "schedule": _SCHEDULES[config.schedule],
        "c_log": config.c_log,
        "variance_scale": config.variance_scale,
        "first_play_rule": (
            codes.FIRST_PLAY_NONE
            if config.first_play is None
            else codes.FIRST_PLAY_PARENT
            if config.first_play == "parent"
            else codes.FIRST_PLAY_SCALED
            if config.first_play == "scaled"
            else codes.FIRST_PLAY_FIXED
        ),
        "first_play_reduction": config.first_play_reduction,
        "backup": _BACKUPS[config.backup],
        "minimax_share": 1.0 if config.backup == "max" else config.minimax_share,
        "discount": config.discount,
        "normalise": plan.normalise,
        "virtual": _VIRTUALS[config.virtual],
        "virtual_until": config.virtual_until,
        "widening": config.widening or 0.0,
        "widening_power": config.widening_power,
        "history_weight": config.history_weight,
        "amaf_reference": config.amaf_reference,
        "amaf_bias": config.amaf_bias,
        "amaf_k": config.amaf_k or 0.0,
        "completed_visits": config.completed_visits,
        "completed_scale": config.completed_scale,
        "root_rule": _ROOTS[config.root],
        "forced_playouts": config.forced_playouts,
        "repetition": facts.middle if config.repetition is None else config.repetition,
        "rollout_depth": np.iinfo(np.int32).max,
        "rollout_count": 1,
        "keeps_history": config.rule == "history" or bool(getattr(evaluator, "keeps_history", False)),
        "value_low": np.inf,
        "value_high": -np.inf,
    }
    if isinstance(evaluator, CompiledEvaluator):
        settings |= evaluator.settings()
    for name, value in settings.items():
        control[name] = value
    return control
