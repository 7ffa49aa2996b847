"""Load games by name: bundled ones, and `module:Name` or `file.py:Name` for a user's game, imported on demand."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treetop.checks import shorten, suggest
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, TreetopError, UnknownGameError
from treetop.game.calls import parse_call
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.lines import users_line
from treetop.game.position import Position

BUNDLED = {
    "amazons": "treetop.games.amazons",
    "ataxx": "treetop.games.ataxx",
    "backgammon": "treetop.games.backgammon",
    "blackjack": "treetop.games.blackjack",
    "breakthrough": "treetop.games.breakthrough",
    "checkers": "treetop.games.checkers",
    "chess": "treetop.games.chess",
    "cliff_walking": "treetop.games.cliff_walking",
    "clobber": "treetop.games.clobber",
    "connect_four": "treetop.games.connect_four",
    "go": "treetop.games.go",
    "gomoku": "treetop.games.gomoku",
    "goofspiel": "treetop.games.goofspiel",
    "hex": "treetop.games.hex",
    "kuhn_poker": "treetop.games.kuhn_poker",
    "leduc_poker": "treetop.games.leduc_poker",
    "matching_pennies": "treetop.games.matching_pennies",
    "minishogi": "treetop.games.minishogi",
    "nim": "treetop.games.nim",
    "nim_three": "treetop.games.nim_three",
    "othello": "treetop.games.othello",
    "pendulum": "treetop.games.pendulum",
    "pig": "treetop.games.pig",
    "rock_paper_scissors": "treetop.games.rock_paper_scissors",
    "sailing": "treetop.games.sailing",
    "scoundrel": "treetop.games.scoundrel",
    "shogi": "treetop.games.shogi",
    "tic_tac_toe": "treetop.games.tic_tac_toe",
    "twenty48": "treetop.games.twenty48",
    "xiangqi": "treetop.games.xiangqi",
}
"""Each bundled game, and the module that defines it under the same name."""

_LONGEST_MODULE = 1000


def load_game(spec: str | Game | Family[...] | type) -> Game:
    """Return the game with a name: `othello`, `hex(size=7)`, `my_module:MyGame`, `folder/my_game.py:MyGame`.

    A game is returned unchanged, a family is called with its default parameters. `module:Name` imports the module, so
    use `load_bundled` for a name that comes from a file. Only objects made by `@treetop.game` and `@treetop.family` are
    accepted; nothing else is called.

    >>> load_game("nim(stones=5)").name
    'nim(stones=5, most=3)'
    """
    if isinstance(spec, Game):
        return spec
    if isinstance(spec, Family):
        return spec()
    if isinstance(spec, type):
        raise UnknownGameError(f"the class {spec.__name__} is not a game yet: put @treetop.game(...) above it")
    if not isinstance(spec, str):
        raise UnknownGameError(f"a game must be a name or a class under @treetop.game, not {spec!r}{_hint(spec)}")
    text = spec.strip()
    module, name, args, kwargs = _parse(text)
    if module is None:
        found = _bundled(name)
    else:
        found = find_marked(module, name, {"@treetop.game": Game, "@treetop.family": Family}, UnknownGameError)
    return _named(text, found, name, args, kwargs)


def load_bundled(spec: str) -> Game:
    """Return the bundled game with a name. Nothing else is imported, so the name may come from a file.

    >>> load_bundled("hex(size=7)").name
    'hex(size=7)'
    """
    text = spec.strip()
    module, name, args, kwargs = _parse(text)
    if module is not None:
        raise UnknownGameError(f"{shorten(text)} is not a bundled game; names from files may not import modules")
    return _named(text, _bundled(name), name, args, kwargs)


def with_parameters(game: Game, **changes: Any) -> Game:
    """Return the game of the same family with other parameters; raise UnknownGameError if it does not have them.

    >>> with_parameters(load_game("hex(size=7)"), size=9).name
    'hex(size=9)'
    """
    unknown = sorted(set(changes) - set(game.parameters or ()))
    if unknown or game.source is None:
        raise UnknownGameError(f"{game.name} has no parameter {', '.join(unknown) or 'that can be changed'}")
    name, parameters = game.source.partition("(")[0], {**game.parameters, **changes}
    return load_game(f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})")


def name_for_workers(game: Game) -> str:
    """Return the name by which another process finds a game; raise ConfigError if it would not find the same rules.

    >>> name_for_workers(load_game("hex(size=7)"))
    'hex(size=7)'
    """
    name = game.source or game.name
    advice = "put it in a module and name it as module:Name, or use workers=1 in this process"
    try:
        found = load_game(name)
    except TreetopError as error:
        raise ConfigError(f"{name} cannot be found by that name in another process: {advice} ({error})") from error
    if found.digest != game.digest:
        raise ConfigError(f"another process would find other rules under the name {name}: {advice}")
    return name


def load_same(spec: str | Game, digest: str | None) -> Game:
    """Return the game with a name in a worker, which may be on another machine: its rules must have this digest.

    >>> load_same("hex(size=7)", load_game("hex(size=7)").digest).name
    'hex(size=7)'
    """
    game = load_game(spec)
    if digest is not None and game.digest != digest:
        raise ConfigError(
            f"{game.name} has other rules on the machine {platform.node()} (digest {game.digest[:12]}, Python "
            f"{platform.python_version()}) than where the work was started (digest {digest[:12]}): "
            "use the same version of the game and of Python on both"
        )
    return game


def _hint(spec: object) -> str:
    """Return what a Python problem can be used for; empty for other objects."""
    is_problem = all(callable(getattr(spec, method, None)) for method in ("actions", "step"))
    return ": treetop.Search searches a Python problem, treetop.check checks it; the rest is for games" * is_problem


def position(
    spec: str | Game | Family[...],
    moves: str | Iterable[Any] = (),
    *,
    setup: str | None = None,
    seed: int | None = None,
) -> Position:
    """Return a position: the start of a game, or the position of a diagram (`setup`), and then some moves.

    With a `seed`, a game with the method `deal` is dealt; later chance is not resolved. Other games ignore the seed.

    >>> import treetop
    >>> print(treetop.position("tic_tac_toe", moves="b2 a1"))
    3 . . .
    2 . X .
    1 O . .
      a b c
    """
    game = load_game(spec)
    if setup is not None and seed is not None:
        raise ConfigError("seed and setup exclude each other: a set-up is a complete position, nothing is dealt")
    start = Position.start(game, None if seed is None else Rng(seed)) if setup is None else Position.parse(game, setup)
    return start.play(moves)


def _parse(text: str) -> tuple[str | None, str, list[Any], dict[str, Any]]:
    """Return the module (None for a bundled game), the name and the parameters."""
    module, colon, _ = text.partition("(")[0].rpartition(":")
    try:
        call = parse_call(text[len(module) + 1 :] if colon else text)
    except ConfigError as error:
        raise UnknownGameError(
            f"{shorten(text)} is not the name of a game; write a name, or a name with parameters such as hex(size=7) "
            f"({error})"
        ) from None
    return module if colon else None, call.name, list(call.positional), call.options


def _bundled(name: str) -> Game | Family[...]:
    if name not in BUNDLED:
        raise UnknownGameError(
            f"there is no game called {name!r}; {suggest(name, BUNDLED)}; write module:Name for your own game"
        )
    found: Game | Family[...] = getattr(importlib.import_module(BUNDLED[name]), name)
    return found


def find_marked(module: str, name: str, kinds: dict[str, type], error: type[TreetopError]) -> Any:
    """Import a user's module and return the object with a name, which must be made by one of Treetop's decorators.

    Nothing of the module is called. `kinds` maps each decorator to the type that it returns; `error` is raised if there
    is no such object.
    """
    if len(module) > _LONGEST_MODULE:
        raise error(
            f"the name of a module has at most {_LONGEST_MODULE} characters, not {len(module):,}: {shorten(module)}"
        )
    if not module.endswith(".py") and not all(part.isidentifier() for part in module.split(".")):
        raise error(
            f"{module!r} is not the name of a module: write module:Name, package.module:Name or folder/file.py:Name"
        )
    try:
        loaded = load_file(module) if module.endswith(".py") else importlib.import_module(module)
    except error:
        raise
    except ModuleNotFoundError as failed:
        raise error(f"the module {module!r} cannot be imported: {failed}{_where(failed)}") from failed
    except TreetopError as failed:
        raise (error(str(failed)) if isinstance(failed, UnknownGameError) else failed) from None
    except (Exception, SystemExit) as failed:
        raise error(f"importing {module!r} failed: {type(failed).__name__}: {failed}{_where(failed)}") from failed
    content = dict(vars(loaded))  # not getattr, which may call the module's own __getattr__
    marked = tuple(kinds.values())
    found = content.get(name)
    if issubclass(type(found), marked):  # not isinstance, which may call the object's own __class__
        return found
    there = ", ".join(key for key, value in content.items() if issubclass(type(value), marked)) or "none"
    if name not in content:
        raise error(f"{module} has no {name!r}; {' or '.join(kinds)} objects there: {there}")
    text = f"{module}:{name} was not made by {' or '.join(kinds)}; objects there that were: {there}"
    is_problem = Game in marked and all(inspect.getattr_static(found, one, None) for one in ("actions", "step"))
    raise error(f"{text}; use a Python problem in Python, with treetop.Search or treetop.check" if is_problem else text)


def _where(failed: BaseException) -> str:
    """Return the user's line that an error came from, in brackets."""
    line = users_line(failed)
    return f" ({line})" if line else ""


def load_file(path: str) -> Any:
    """Import a Python file by its path, once."""
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise UnknownGameError(f"there is no file {path}")
    name = file.stem
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) != str(file):
        name = f"{file.stem} in {file.parent}"  # another module has that name, perhaps one of Python's library
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UnknownGameError(f"{path} cannot be read as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _named(text: str, found: Game | Family[...], name: str, args: list[Any], kwargs: dict[str, Any]) -> Game:
    """Return the game, and store the text by which it was found."""
    if isinstance(found, Family):
        game = found(*args, **kwargs)
    elif args or kwargs:
        raise UnknownGameError(f"{name} takes no parameters")
    else:
        game = found
    game.source = text
    return game
