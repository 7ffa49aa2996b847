"""Settings of a search by text: `uct`, `grave(amaf_reference=50, evaluator='heuristic')`, or what is recommended."""

from __future__ import annotations

from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.game.calls import parse_call
from treetop.game.definition import Game
from treetop.players.bundled import recommendation
from treetop.players.spec import NOT_SETTINGS, Spec, parse_spec
from treetop.search.config import SearchConfig
from treetop.search.presets import PRESETS


def parse_rule(rule: str | None, c: float | None = None, **options: Any) -> tuple[SearchConfig, str | None]:
    """Return the settings of a search, and its evaluator if the rule names one.

    Options that are None were not given; the rule may have options in brackets, also `evaluator`.

    >>> config, evaluator = parse_rule("puct(c=1.5, evaluator='heuristic')")
    >>> str(config), evaluator
    ('puct(c=1.5)', 'heuristic')
    """
    call = parse_call(rule or "uct", nested=True)
    evaluator = call.options.pop("evaluator", None)
    if not isinstance(evaluator, str | None):
        raise ConfigError(f"{rule}: evaluator must be a string such as 'rollout', not {evaluator!r}")
    if call.name not in PRESETS or call.positional:
        known = checks.suggest(call.name, PRESETS)
        raise ConfigError(f"there is no rule {rule!r}; {known}, each with options in brackets")
    given = {key: value for key, value in {"c": c, **options}.items() if value is not None}
    if twice := sorted(set(given) & set(call.options)):
        raise ConfigError(f"{', '.join(twice)} is given twice: in the rule and separately; remove one of them")
    try:
        return PRESETS[call.name](**call.options, **given), evaluator
    except TypeError as error:
        raise ConfigError(f"{rule}: {error}") from None


def recommended_rule(game: Game, rule: str | None, **given: object) -> str | None:
    """Return the rule of a game's recommended player, with its options and evaluator, unless a rule is given.

    Its limit and the options that were given, which are not None, are left out. None: there is no such player.

    >>> import treetop as tt
    >>> recommended_rule(tt.load_game("nim"), None)
    'uct(solver=True)'
    """
    entry = None if rule is not None else recommendation(game)
    if entry is None:
        return None
    spec = parse_spec(entry.player)
    without = {*NOT_SETTINGS, *(key for key, value in given.items() if value is not None)}
    kept = {key: value for key, value in spec.options.items() if key not in without}
    return str(Spec(spec.name, kept))
