"""Games by name: the bundled ones, and `module:Name` or `file.py:Name` for a user's own. Nothing is imported before it is asked for."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, TreetopError, UnknownGameError
from treetop.game.calls import parse_call
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position

BUNDLED = {
    "backgammon": "treetop.games.backgammon",
    "blackjack": "treetop.games.blackjack",
    "breakthrough": "treetop.games.breakthrough",
    "cliff_walking": "treetop.games.cliff_walking",
    "connect_four": "treetop.games.connect_four",
    "gomoku": "treetop.games.gomoku",
    "goofspiel": "treetop.games.goofspiel",
    "hex": "treetop.games.hex",
    "kuhn_poker": "treetop.games.kuhn_poker",
    "leduc_poker": "treetop.games.leduc_poker",
    "matching_pennies": "treetop.games.matching_pennies",
    "nim": "treetop.games.nim",
    "nim_three": "treetop.games.nim_three",
    "othello": "treetop.games.othello",
    "pendulum": "treetop.games.pendulum",
    "pig": "treetop.games.pig",
    "rock_paper_scissors": "treetop.games.rock_paper_scissors",
    "sailing": "treetop.games.sailing",
    "scoundrel": "treetop.games.scoundrel",
    "tic_tac_toe": "treetop.games.tic_tac_toe",
    "twenty48": "treetop.games.twenty48",
}
"""Each bundled game, and the module that defines it under the same name."""


def load_game(spec: str | Game | Family[...] | type) -> Game:
    """The game that a text names: `othello`, `hex(size=7)`, `my_module:MyGame`, `folder/my_game.py:MyGame`.

    A game is returned as it is, and a family with its default parameters.
    """
    if isinstance(spec, Game):
        return spec
    if isinstance(spec, Family):
        return spec()
    if isinstance(spec, type):
        raise UnknownGameError(f"the class {spec.__name__} is not a game yet: put @treetop.game(...) above it")
    if not isinstance(spec, str):
        raise UnknownGameError(f"a game is named by a text, or is a class under @treetop.game; not {spec!r}")
    text = spec.strip()
    head, _, _ = text.partition("(")
    module, colon, _ = head.rpartition(":")
    name, args, kwargs = _parse_call(text[len(module) + 1 :] if colon else text)
    found = _own(module, name) if colon else _bundled(name)
    game = _build(found, name, args, kwargs)
    game.source = text
    return game


def position(
    spec: str | Game | Family[...], moves: str | Iterable[Any] = (), *, setup: str | None = None, seed: int | None = None
) -> Position:
    """A position: the start of a game, or a diagram that it can read, and then some moves.

    With a `seed` a game that deals is dealt; no other chance is settled. A game that deals nothing begins alike with every seed.

    >>> import treetop
    >>> print(treetop.position("tic_tac_toe", moves="b2 a1"))
    3 . . .
    2 . X .
    1 O . .
      a b c
    """
    game = load_game(spec)
    if setup is not None and seed is not None:
        raise ConfigError("a set-up says all of a position, so there is nothing to deal: give a seed or a setup")
    start = Position.start(game, None if seed is None else Rng(seed)) if setup is None else Position.parse(game, setup)
    return start.play(moves)


def _parse_call(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    try:
        call = parse_call(text)
    except ConfigError:
        raise UnknownGameError(f"{text!r} does not name a game; write a name, or a name with parameters such as hex(size=7)") from None
    return call.name, list(call.positional), call.options


def _bundled(name: str) -> Any:
    if name not in BUNDLED:
        close = difflib.get_close_matches(name, BUNDLED, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(BUNDLED))}; your own is module:Name"
        raise UnknownGameError(f"there is no game called {name!r}; {hint}")
    return getattr(importlib.import_module(BUNDLED[name]), name)


def _own(module: str, name: str) -> Any:
    try:
        loaded = load_file(module) if module.endswith(".py") else importlib.import_module(module)
    except TreetopError:
        raise
    except ModuleNotFoundError as error:
        raise UnknownGameError(f"the module {module!r} cannot be imported: {error}") from error
    except Exception as error:
        raise UnknownGameError(f"importing {module!r} failed: {type(error).__name__}: {error}") from error
    if not hasattr(loaded, name):
        games = [key for key, value in vars(loaded).items() if isinstance(value, (Game, Family))]
        raise UnknownGameError(f"{module} has no {name!r}; its games are {', '.join(games) or 'none'}")
    return getattr(loaded, name)


def load_file(path: str) -> Any:
    """Import a Python file by its path, once."""
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise UnknownGameError(f"there is no file {path}")
    known = sys.modules.get(file.stem)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise UnknownGameError(f"{path} cannot be read as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[file.stem]
        raise
    return module


def _build(found: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Game:
    if isinstance(found, Game):
        if args or kwargs:
            raise UnknownGameError(f"{name} takes no parameters")
        return found
    if isinstance(found, Family):
        return found(*args, **kwargs)
    if callable(found) and not isinstance(found, type):
        return Family(found)(*args, **kwargs)
    raise UnknownGameError(f"{name} is neither a class under @treetop.game nor a function that returns one")
