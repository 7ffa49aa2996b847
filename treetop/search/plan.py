"""Derive from the parts of a search what its kernels need: a build, columns, and the fields of the control record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.digest import digest
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.kernels import control as codes
from treetop.kernels.backups import BACKUPS
from treetop.kernels.build import FULL, STOCHASTIC_FULL, Build, smallest, with_rule
from treetop.kernels.parts import TREES, code_of
from treetop.kernels.record import CONTROL
from treetop.kernels.roots import ROOTS
from treetop.kernels.rules import RULES
from treetop.kernels.rules.own import OwnRule
from treetop.kernels.rules.rave import Rave
from treetop.search.config import SearchConfig, parts_of
from treetop.search.evaluator import CompiledEvaluator
from treetop.types import NONE

_LARGEST = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Plan:
    """What a search needs of the kernels, derived once from its settings."""

    build: Build
    columns: frozenset[str]
    normalise: bool
    table_size: int

    @property
    def full(self) -> Build:
        """The build that supports restricted moves of the root; a graph has none."""
        return self.build if self.build.full else STOCHASTIC_FULL if self.build.stochastic else FULL


_MOST_PLANS = 256
_plans: dict[tuple[Any, ...], tuple[Plan, bytes]] = {}


def prepared(config: SearchConfig, evaluator: Any, expand_after: int, game: Game) -> tuple[Plan, npt.NDArray[Any]]:
    """Return the plan and the control record of a search; for the same settings and game they are made once."""
    # The name of a compiled evaluator includes its options; of others nothing matters here.
    named = evaluator.name if isinstance(evaluator, CompiledEvaluator) else None
    key = (config, named, expand_after, game)
    if isinstance(config.rule, OwnRule) or key not in _plans:  # what the user's own rule reads may change
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        plan = make_plan(config, evaluator, game)
        _plans[key] = plan, make_control(config, evaluator, expand_after, game, plan).tobytes()
    plan, control = _plans[key]
    return plan, np.frombuffer(bytearray(control), CONTROL)  # faster than to copy a record of many fields


def make_plan(config: SearchConfig, evaluator: Any, game: Game) -> Plan:
    """Return the plan with the smallest build that has all parts; raise ConfigError if they do not fit the game."""
    if isinstance(evaluator, CompiledEvaluator):
        evaluator.check(game)
    for part in config.parts():
        for reason in part.refusals_by_game(game):
            raise ConfigError(reason)
    if not config.rule.works_in(TREES):
        raise ConfigError(
            f"the rule {config.rule.name!r} is for simultaneous moves and imperfect information; {game.name} has "
            "neither, so its best moves need no mixed strategy: use another rule"
        )
    normalise = normalises(config, game)
    flags = frozenset[str]().union(*(part.builds() for part in config.parts()))
    columns = frozenset[str]().union(*(part.columns() for part in config.parts()))
    if normalise or bool(getattr(evaluator, "needs_full_build", False)):
        flags |= {"full"}
    if config.solver:
        flags |= {"solver"}
        columns |= {"bounds", "distances"}
    if is_stochastic(config, game):
        flags |= {"stochastic"}
        _refuse_stochastic(config, game)
    if "graph" in flags and "full" in flags:
        raise ConfigError(
            f"transpositions do not work with the evaluator {evaluator!r}: leave them out, or use Rollout()"
        )
    build = smallest(flags)
    if isinstance(config.rule, OwnRule):
        build = with_rule(build, config.rule.compiled, digest({"rule": config.rule.compiled.function}, {}))
    return Plan(build, columns, normalise, config.graph.table_size)


def normalises(config: SearchConfig, game: Game) -> bool:
    """Return whether rules use the scale between the lowest and the highest mean in the tree."""
    low, high = game.facts.rewards
    if config.values.normalise is not None:
        return config.values.normalise
    return high - low > 2 and not isinstance(config.rule, Rave) and not config.graph.transpositions


def is_stochastic(config: SearchConfig, game: Game) -> bool:
    """Return whether a search needs a stochastic build: for chance, immediate rewards or paranoid search."""
    return game.has("chance_outcomes") or game.has("step_rewards") or config.values.opponents == "paranoid"


def _refuse_stochastic(config: SearchConfig, game: Game) -> None:
    if config.graph.transpositions:
        raise ConfigError(
            "transpositions work with games without chance and immediate rewards, and not with paranoid search: "
            f"leave them out for {game.name} with these settings"
        )
    if config.solver and (game.has("step_rewards") or config.values.opponents == "paranoid"):
        why = "there are immediate rewards" if game.has("step_rewards") else "the search is paranoid"
        raise ConfigError(f"the solver proves the rewards at the end of a game, but here {why}: leave solver out")


def refuse_parts(config: SearchConfig, what: str, kind: str, leave_out: tuple[str, ...] = ()) -> None:
    """Raise ConfigError for parts and options that a kind of search does not support. `what` names it in the error."""
    for part in config.parts():
        if not part.works_in(kind):
            option = part.label or part.slot
            allowed = [
                repr(each.name) for each in parts_of(part.slot) if kind in each.kinds and len(parts_of(part.slot)) > 1
            ]
            does = f"works with {option}={' or '.join(allowed)}, not with" if allowed else "does not work with"
            raise ConfigError(f"{what} {does} {option}={config.flat().get(option, part.name)!r}")
    given = [name for name in leave_out if name in config.flat()]
    if given:
        raise ConfigError(f"{what} does not work with {', '.join(given)}: leave out what is not the default")


def make_control(config: SearchConfig, evaluator: Any, expand_after: int, game: Game, plan: Plan) -> npt.NDArray[Any]:
    """Return the control record with all settings."""
    facts = game.facts
    least, greatest = facts.allowed_values(step_rewards=game.has("step_rewards"), discount=config.values.discount)
    low, high = facts.rewards
    settings: dict[str, float] = {
        "max_length": facts.max_length,
        "num_actions": facts.num_actions,
        "players": facts.players,
        "num_outcomes": facts.num_outcomes or 0,
        "most_children": facts.most_children,
        "step_rewards": game.has("step_rewards"),
        "middle": facts.middle,
        "low": low,
        "high": high,
        "least_value": least,
        "greatest_value": greatest,
        "fpu": facts.middle,
        "paranoid_target": NONE,
        "rollout_depth": _LARGEST,
        "rollout_count": 1,
        "value_low": np.inf,
        "value_high": -np.inf,
    }
    for part in reversed(list(config.parts())):  # the rule comes last: its options override others
        settings |= part.control()
    settings |= {
        "rule": code_of(config.rule, RULES),
        "backup": code_of(config.backup, BACKUPS),
        "root": code_of(config.root, ROOTS),
        "tie_break": _tie_break(config),
        "solver": config.solver,
        "normalise": plan.normalise,
        "expand_after": expand_after,
        "max_depth": _LARGEST if config.growth.max_depth is None else config.growth.max_depth,
        "repetition": facts.middle if config.graph.repetition is None else config.graph.repetition,
    }
    if isinstance(evaluator, CompiledEvaluator):
        settings |= evaluator.settings()
    if getattr(evaluator, "keeps_history", False):
        settings["keeps_history"] = 1
    settings["notes_moves"] = "amaf" in plan.columns or bool(settings.get("keeps_history"))
    control = np.zeros(1, CONTROL)
    for name, value in settings.items():
        control[name] = value
    return control


def _tie_break(config: SearchConfig) -> int:
    if callable(config.tie_break):
        return codes.ASK
    return codes.FIRST if config.tie_break == "first" else codes.RANDOM
