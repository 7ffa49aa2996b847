"""The recommended player of each bundled game: the table is in `treetop/games/__init__.py`."""

from __future__ import annotations

from typing import Any

from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.games import RECOMMENDED, Recommended
from treetop.players.spec import NOT_SETTINGS, parse_spec
from treetop.search.evaluator import make_evaluator
from treetop.search.presets import PRESETS
from treetop.search.search import Search


def recommended(game: str | Game | Family[...] | type[Any]) -> str:
    """Return the spec of the recommended player of a bundled game, with its limit.

    `treetop games NAME` also shows its measured strength.

    >>> recommended("nim")
    'uct(simulations=1000, solver=True)'
    """
    found = load_game(game)
    entry = recommendation(found)
    if entry is None:
        raise ConfigError(
            f"{found.name} is not a bundled game, so it has no recommended player: name one, such as "
            "uct(simulations=1000)"
        )
    return entry.player


def recommended_search(
    game: str | Game | Family[...] | type[Any] | Position,
    *,
    seed: int = 0,
    player: int | None = None,
    tier: str | None = None,
) -> Search:
    """Return a search of a bundled game, or of a position of one, with the rule and evaluator recommended for it.

    They are those of `treetop search` without `--rule`. The limit is left to `run`.

    >>> import treetop as tt
    >>> search = recommended_search("nim(stones=5)", seed=1)
    >>> search.run(tt.Limit(simulations=500)).proof.outcome
    'win'
    """
    position = game if isinstance(game, Position) else Position(load_game(game))
    spec = parse_spec(recommended(position.game))
    options = {key: value for key, value in spec.options.items() if key not in NOT_SETTINGS}
    evaluator = make_evaluator(options.pop("evaluator", "rollout"))
    return Search(position, PRESETS[spec.name](**options), evaluator=evaluator, seed=seed, player=player, tier=tier)


def recommendation(game: Game) -> Recommended | None:
    """Return the recommended player of a game with its measured strength; None for a game that is not bundled."""
    return RECOMMENDED[game.family] if game.is_bundled else None
