"""Players by name: a spec such as `uct(simulations=1000)` names one, on the command line and in Python.

Options are Python literals, and nothing of the text is evaluated. `module:function` names a function of your own under
`@treetop.player`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.game.calls import parse_call
from treetop.game.choices import first_choice
from treetop.game.definition import Game
from treetop.game.registry import find_marked
from treetop.players.baselines import AlphaBetaPlayer, GreedyPlayer, RandomPlayer
from treetop.players.engine import UciPlayer, UsiPlayer
from treetop.players.following import CecpPlayer, GtpPlayer
from treetop.players.gnubg import GnubgPlayer
from treetop.players.net import NetPlayer
from treetop.players.own import PlayerMaker
from treetop.players.protocol import Player
from treetop.players.search import SearchPlayer
from treetop.search.config import option_names
from treetop.search.evaluator import make_evaluator
from treetop.search.limits import Limit
from treetop.search.presets import PRESETS
from treetop.search.search import Search

_DEFAULT_SIMULATIONS = 1000
_LIMITS = ("simulations", "seconds", "nodes")
NOT_SETTINGS = (*_LIMITS, "reuse", "threads", "deterministic")
"""The options of a search as a player that are no settings of the search."""
_SEARCH_OPTIONS = (*NOT_SETTINGS, "evaluator")


@dataclass(frozen=True)
class Spec:
    """The name and options of a player."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()
    """Options without a name, such as an engine's command."""

    def __str__(self) -> str:
        inside = [repr(value) for value in self.arguments] + [f"{key}={value!r}" for key, value in self.options.items()]
        return f"{self.name}({', '.join(inside)})" if inside else self.name


def parse_spec(text: str) -> Spec:
    """Parse a player's name and options. Nothing is looked up or executed.

    >>> parse_spec("uct(c=1.4, simulations=500)").options
    {'c': 1.4, 'simulations': 500}
    """
    if not isinstance(text, str):
        raise ConfigError(f"a player must be a string such as uct(simulations=1000), not {text!r}")
    stripped = text.strip()
    module, colon, _ = stripped.partition("(")[0].rpartition(":")
    try:
        call = parse_call(stripped[len(module + colon) :], nested=True)
    except ConfigError:
        raise ConfigError(
            f"{checks.shorten(text)} does not name a player; "
            "write a name, or a name with options such as uct(c=1.4, simulations=1000)"
        ) from None
    return Spec(module + colon + call.name, call.options, call.positional)


def make_player(spec: str | Spec, game: Game) -> Player:
    """Return the player that a spec names, ready to play a game. Call `close` when it is no longer needed.

    >>> import treetop
    >>> make_player("uct(simulations=100)", treetop.load_game("nim")).name
    'uct(simulations=100)'
    """
    if not isinstance(spec, (str, Spec)):
        raise ConfigError(
            "a player is named by text, such as 'uct(c=1.4, simulations=1000)' or 'module:function', "
            f"not {checks.shorten(spec)}"
        )
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if ":" in parsed.name:
        return _own(parsed, game)
    options = dict(parsed.options)
    name = options.pop("name", str(parsed))
    if not isinstance(name, str) or not name:
        raise ConfigError(f"name must be a string, not {name!r}")
    if parsed.name in PRESETS:
        _refuse_arguments(parsed)
        return _search_player(parsed.name, game, options, name)
    if parsed.name in _MAKERS:
        return _call(parsed, _MAKERS[parsed.name], game, options, name)
    raise ConfigError(
        f"there is no player called {parsed.name!r}; {checks.suggest(parsed.name, player_names())}; "
        "name a function of your own as module:function"
    )


def player_names() -> list[str]:
    """Return the names that `make_player` knows.

    >>> "uct" in player_names() and "random" in player_names()
    True
    """
    return sorted([*PRESETS, *_MAKERS])


def _random(game: Game, *, name: str) -> Player:  # noqa: ARG001 - all makers have one shape
    return RandomPlayer(name)


def _greedy(game: Game, *, name: str) -> Player:
    return GreedyPlayer(game, name)


_MAKERS: dict[str, Callable[..., Player]] = {
    "random": _random,
    "greedy": _greedy,
    "alphabeta": AlphaBetaPlayer,
    "uci": UciPlayer,
    "usi": UsiPlayer,
    "gtp": GtpPlayer,
    "cecp": CecpPlayer,
    "gnubg": GnubgPlayer,
    "net": NetPlayer,
}
"""The players that are not searches: what makes each from a game, its options, and a name."""

_ENGINES = ("uci", "usi", "gtp", "cecp")
"""Players whose options contain the command of a program."""


def _call(spec: Spec, maker: Callable[..., Player], game: Game, options: dict[str, Any], name: str) -> Player:
    """Make a player after comparing its options with those its maker takes."""
    parameters = list(inspect.signature(maker).parameters.values())[1:]
    allowed = [parameter.name for parameter in parameters]
    positional = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_ONLY]
    _refuse_unknown(spec, options, [option for option in allowed if option not in positional])
    if len(spec.arguments) > len(positional):
        _refuse_arguments(spec)
    if len(spec.arguments) < len(positional):
        raise ConfigError(f'{spec.name} needs its {positional[0]} first: {spec.name}("...")')
    return maker(game, *spec.arguments, **options, name=name)


def _refuse_arguments(spec: Spec) -> None:
    if spec.arguments:
        raise ConfigError(f"in {spec} {spec.arguments[-1]!r} has no name: write it as option={spec.arguments[-1]!r}")


def _refuse_unknown(spec: Spec, options: Iterable[str], allowed: Iterable[str]) -> None:
    known = {*allowed, "name"}
    for option in options:
        if option not in known:
            raise ConfigError(
                f"{spec.name} has no option {option!r}; {checks.suggest(option, known, listed='its options are')}"
            )


# Searches.


def _search_player(kind: str, game: Game, options: dict[str, Any], name: str) -> Player:
    preset = PRESETS[kind]
    parameters = inspect.signature(preset).parameters.values()
    settings = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    if len(settings) < len(parameters):
        settings += option_names()
    _refuse_unknown(Spec(kind), options, (*_SEARCH_OPTIONS, *settings))
    limits = {key: options.pop(key) for key in _LIMITS if key in options}
    reuse = options.pop("reuse", True)
    checks.flag("reuse", reuse)
    together = {key: options.pop(key) for key in ("threads", "deterministic") if key in options}
    evaluator = options.pop("evaluator", None)
    if not isinstance(evaluator, str | None):
        raise ConfigError(f"evaluator must be a string such as 'rollout', not {evaluator!r}")
    made = None if evaluator is None else make_evaluator(evaluator)
    try:
        config = preset(**options)
    except TypeError as error:  # an option that the preset sets itself
        raise ConfigError(
            f"{Spec(kind, options)} contradicts what {kind} means: {str(error).split(') ', 1)[-1]}"
        ) from None
    limit = Limit(**limits or {"simulations": _DEFAULT_SIMULATIONS})
    Search(
        first_choice(game), config, evaluator=made, **together
    )  # so that an option that does not fit the game is an error now, and not in the middle of a match
    clock_decides = not limits and not config.root.schedules  # a schedule needs a number of simulations
    return SearchPlayer(name, config, limit, evaluator=made, reuse=reuse, clock_decides=clock_decides, **together)


# Players of your own.


def _own(spec: Spec, game: Game) -> Player:
    function = find_maker(spec.name)
    try:
        inspect.signature(function).bind(game, *spec.arguments, **spec.options)
    except TypeError as error:
        raise ConfigError(f"{spec.name} is called with the game and its options, but {error}") from None
    player = function(game, *spec.arguments, **spec.options)
    if not isinstance(player, Player):
        raise ConfigError(f"{spec.name} must return a player (name, begin, choose, observe, close), not {player!r}")
    return player


def find_maker(reference: str) -> Callable[..., Any]:
    """Return the function under `@treetop.player` that `module:function` names."""
    module, colon, name = reference.rpartition(":")
    if not colon:
        raise ConfigError(f"a function is named as module:function, not {checks.shorten(reference)}")
    found: PlayerMaker[..., Any] = find_marked(module, name, {"@treetop.player": PlayerMaker}, ConfigError)
    return found


def runs_code(spec: Spec) -> bool:
    """Return whether making this player imports a module or starts a program that the spec itself names."""
    return ":" in spec.name or spec.name in _ENGINES or (spec.name == "gnubg" and "command" in spec.options)
