"""The decorator that turns an ordinary class into a game."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from treetop.checks import suggest
from treetop.compiler.blueprint import Blueprint
from treetop.compiler.digest import Watch, watched_digest
from treetop.compiler.engine import Engine, Signatures, tier_of_process
from treetop.errors import GameDefinitionError
from treetop.game.facts import Facts
from treetop.game.fields import Field
from treetop.game.lines import callers_line
from treetop.game.methods import ARGUMENTS, ARITY, FOR_PEOPLE, PAIRS, REQUIRED, SIGNATURES
from treetop.game.states import add_state_methods, is_state_method, members, refuse_unusable
from treetop.text import counted

P = ParamSpec("P")
T = TypeVar("T")

_MOST_BYTES = 2**16
"""The size of the largest state: searches keep copies of it on the stack."""


def _explained(decorator: Callable[P, T]) -> Callable[P, T]:
    """Return a decorator that explains itself where it was written without its brackets or with wrong names."""
    known = inspect.signature(decorator).parameters

    @functools.wraps(decorator)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if args:
            raise GameDefinitionError(
                "@treetop.game needs brackets with the facts of the game: "
                f"@treetop.game(players=2, num_actions=9, max_length=9)\n  {callers_line()}"
            )
        unknown = next((name for name in kwargs if name not in known), None)
        if unknown is not None:
            raise GameDefinitionError(
                f"@treetop.game has no argument {unknown!r}; {suggest(unknown, known)}\n  {callers_line()}"
            )
        missing = [name for name, one in known.items() if one.default is one.empty and name not in kwargs]
        if missing:
            needed = " and ".join(f"{name}=..." for name in missing)
            raise GameDefinitionError(f"@treetop.game needs {needed}\n  {callers_line()}")
        return decorator(*args, **kwargs)

    return checked


@_explained
def game(
    *,
    players: int,
    max_length: int,
    num_actions: int = 1,
    rewards: tuple[float, float] = (-1.0, 1.0),
    zero_sum: bool | None = None,
    observation_shape: tuple[int, ...] | None = None,
    num_outcomes: int | None = None,
    action_size: int | None = None,
    symmetries: int | None = None,
) -> Callable[[type], Game]:
    """Return a decorator that turns a class with fields and five methods into a game: see docs/compiled-games.md.

    >>> import treetop as tt
    >>> @tt.game(players=2, num_actions=2, max_length=7)
    ... class Subtract:
    ...     stones: int = tt.field("i1")
    ...     player: int = tt.field("i1")
    ...     def reset(self):
    ...         self.stones, self.player = 7, 0
    ...     def legal_actions(self, out):
    ...         out[0], out[1] = 0, 1
    ...         return min(2, self.stones)
    ...     def apply(self, action):
    ...         self.stones -= action + 1
    ...         self.player = 1 - self.player
    ...     def is_terminal(self):
    ...         return self.stones == 0
    ...     def rewards(self, out):
    ...         out[self.player], out[1 - self.player] = -1.0, 1.0
    >>> tt.position(Subtract).apply(1).state.stones
    5
    """
    facts = _located(
        lambda: Facts(
            players,
            num_actions,
            max_length,
            rewards,
            zero_sum,
            observation_shape,
            num_outcomes,
            action_size,
            symmetries,
        )
    )

    def wrap(cls: type) -> Game:
        return _located(lambda: Game(cls, facts))

    return wrap


def _located(make: Callable[[], T]) -> T:
    """Call a function; an error shows the line of the user's decorator."""
    try:
        return make()
    except GameDefinitionError as error:
        raise GameDefinitionError(f"{error}\n  {callers_line()}") from None


class Game:
    """A game: its facts, its rules in plain Python, and its compiled code, which is built on demand.

    Calling it returns the initial state: an object of the user's class, in plain Python, whose methods can be called.

    >>> import treetop as tt
    >>> nim = tt.load_game("nim")
    >>> nim.facts.players, nim.facts.num_actions
    (2, 3)
    >>> nim().current_player()
    0
    """

    def __init__(self, cls: type, facts: Facts) -> None:
        if "__init__" in vars(cls):
            raise GameDefinitionError(
                f"{cls.__name__} has an __init__, but states are created by Treetop: set the fields in `reset` instead"
            )
        self.cls = cls
        self.facts = facts = _inherited(cls, facts)
        self.family = cls.__name__
        """The name without parameters."""
        self.parameters: dict[str, Any] = {}
        """The arguments of the family's function."""
        self.source: str | None = None
        """The text by which `treetop.load_game` found this game, or None."""
        self.fields = _fields(cls)
        size = sum(value.dtype.itemsize * math.prod(value.shape) for value in self.fields.values())
        if size > _MOST_BYTES:
            raise GameDefinitionError(
                f"the fields of {cls.__name__} take {size:,} bytes; a state may have at most {_MOST_BYTES:,}"
            )
        self.dtype = _record(self.fields)
        self.functions = _functions(cls, facts, self.fields)
        refuse_unusable(cls, self.functions, SIGNATURES)
        self._engines: dict[tuple[str, bool, str], Engine] = {}
        self._digest: tuple[str, Watch, int] | None = None
        cls._game = self  # type: ignore[attr-defined]
        add_state_methods(cls)
        if any(value.dtype == np.uint64 for value in self.fields.values()):
            for key, function in self.functions.items():
                setattr(cls, key, _wrapping_around(function))
        self.__doc__ = cls.__doc__

    @property
    def name(self) -> str:
        """The game's name with its parameters, as used on the command line: `hex(size=7)`."""
        if not self.parameters:
            return self.family
        inside = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{self.family}({inside})"

    @property
    def summary(self) -> str:
        """The first line of the class's docstring."""
        return (inspect.getdoc(self.cls) or "").split("\n")[0]

    def __call__(self) -> Any:
        """Return the initial state, in plain Python."""
        state = self.view(np.zeros(1, self.dtype), 0)
        state.reset()
        return state

    def view(self, states: np.ndarray[Any, Any], index: int = 0) -> Any:
        """Return the state at `index` of an array of this game's records, as an object. It is not a copy."""
        state: Any = object.__new__(self.cls)
        object.__setattr__(state, "_record", states[index : index + 1][0])
        object.__setattr__(state, "_states", states[index : index + 1])
        return state

    def has(self, method: str) -> bool:
        """Return whether the class has an optional method."""
        return callable(getattr(self.cls, method, None))

    @property
    def is_bundled(self) -> bool:
        """Whether the class is one of Treetop's own games, whose rules are tested."""
        return self.cls.__module__.startswith("treetop.games.")

    @property
    def digest(self) -> str:
        """The rules digest: equal for games with the same rules, even if comments, files or rendering differ.

        It is computed again when a helper or a constant has been replaced, as in a notebook.
        """
        if self._digest is None or not self._digest[1].holds() or self._digest[2] != self._class_size():
            facts = {key: value for key, value in asdict(self.facts).items() if value is not None}
            constants = {f"constant {key}": value for key, value in self._constants().items()}
            text, watch = watched_digest(self.functions, {**facts, **constants, "layout": str(self.dtype.descr)})
            for base in self.cls.__mro__[:-1]:
                for key in self._constants():
                    watch.name(vars(base), key)
            self._digest = text, watch, self._class_size()
        return self._digest[0]

    def _class_size(self) -> int:
        """Return the number of attributes of the class and its bases: more of them after a constant was added."""
        return sum(len(vars(base)) for base in self.cls.__mro__[:-1])

    def engine(self, *, bounds_checked: bool = False, tier: str | None = None) -> Engine:
        """Return the compiled code of the game's current rules, after they have passed a trial.

        The compiled methods of a user's game always check array indices, so an index out of bounds is an error instead
        of damaged memory. Bundled games, whose rules are tested, check them only with `bounds_checked`. `tier` is auto,
        indirect or direct, by default that of the process: see `treetop.compiler.engine`.
        """
        from treetop.game.trial import require_trial  # a trial plays games, so its module imports this one

        digest = self.digest
        require_trial(self, digest)
        key = (digest, bounds_checked or not self.is_bundled, tier or tier_of_process())
        if key not in self._engines:
            blueprint = Blueprint(
                self.name, key[0], self.dtype, dict(self.functions), self._constants(), key[1],
                self.facts.observation_shape or (),
            )  # fmt: skip
            checked = None if key[1] else self.engine(bounds_checked=True, tier=tier)
            self._engines[key] = Engine(blueprint, self._signatures(), checked, key[2])
        return self._engines[key]

    def _signatures(self) -> Signatures:
        """Return the argument types of all methods; `observe` gets an array of the game's own shape."""
        dimensions = len(self.facts.observation_shape or (0,))
        return {**SIGNATURES, "observe": lambda t: (t.int64, t.Array(t.float32, dimensions, "C"))}

    @property
    def unkept(self) -> str | None:
        """Why code of this game that was compiled in this process is not in the cache; None if all of it is."""
        return next((engine.unkept for engine in self._engines.values() if engine.unkept is not None), None)

    def _constants(self) -> dict[str, object]:
        """Return the constants of the class body: `self.SIZE` reads them in both modes."""
        kinds = (bool, int, float, tuple, np.ndarray, np.generic)
        found = members(self.cls).items()
        return {key: value for key, value in found if not key.startswith("_") and isinstance(value, kinds)}

    def __repr__(self) -> str:
        return f"<game {self.name}>"

    def __str__(self) -> str:
        facts = self.facts
        return (
            f"{self.name}: {self.summary} "
            f"({counted(facts.players, 'player')}, {counted(facts.num_actions, 'action')}, "
            f"at most {counted(facts.max_length, 'move')})"
        )

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """Return the class, so that `class Variant(OtherGame)` under its own decorator defines a variant."""
        return (self.cls,)

    def __reduce__(self) -> Any:
        raise TypeError(f"a game cannot be pickled: send its name, {self.name!r}, and load it with `treetop.load_game`")


def _inherited(cls: type, facts: Facts) -> Facts:
    """Return the facts of a class, with those of inherited methods from the game that it varies."""
    base: Game | None = getattr(cls, "_game", None)
    for name, method in (("observation_shape", "observe"), ("symmetries", "transform")):
        if base is not None and getattr(facts, name) is None and method not in vars(cls):
            facts = replace(facts, **{name: getattr(base.facts, name)})
    return facts


def _fields(cls: type) -> dict[str, Field]:
    found = {key: value for key, value in members(cls).items() if isinstance(value, Field)}
    if not found:
        raise GameDefinitionError(
            f'{cls.__name__} has no field: declare at least one, such as `player: int = treetop.field("i1")`'
        )
    for name in found:
        # `board` is a common name of a field, so it is allowed; such a game is shown by `render`, or by its fields.
        if name.startswith("_") or (name in ARITY and name != "board"):
            raise GameDefinitionError(f"{cls.__name__}: a field cannot be called {name!r}; choose another name")
    return found


def _record(fields: Mapping[str, Field]) -> np.dtype[Any]:
    """Return the record type of the fields, the widest first: all are aligned, and no byte of a copy is undefined."""
    ordered = sorted(fields.items(), key=lambda item: -item[1].dtype.itemsize)
    parts: list[Any] = [(key, value.dtype, value.shape) for key, value in ordered]
    missing = np.dtype(parts, align=True).itemsize - np.dtype(parts).itemsize
    return np.dtype([*parts, *([("_padding", "u1", (missing,))] if missing else [])], align=True)


def _functions(cls: type, facts: Facts, fields: Mapping[str, Field]) -> dict[str, FunctionType]:
    """Return all methods that belong to the rules, including the class's helper methods."""
    found = {
        name: inspect.unwrap(value) for name, value in members(cls).items()
        if isinstance(value, FunctionType) and not name.startswith("__") and not is_state_method(value)
    }  # fmt: skip
    for name, function in found.items():
        if name in ARITY:
            _check_arity(cls, name, function)
    for name, default in _defaults(found).items():
        found[name] = default
        setattr(cls, name, default)
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        raise GameDefinitionError(f"{cls.__name__} lacks {', '.join(missing)}{_did_you_mean(missing, found)}")
    _check_kinds(cls, facts, found)
    if "current_player" not in found:
        found["current_player"] = _default_player(cls, facts, fields)
        cls.current_player = found["current_player"]  # type: ignore[attr-defined]
    return {name: function for name, function in found.items() if name not in FOR_PEOPLE}


def _defaults(found: Mapping[str, FunctionType]) -> dict[str, FunctionType]:
    """Return methods that a game may leave out because they are never called.

    Games with simultaneous moves or continuous actions need neither `legal_actions` nor `apply`.
    """

    def legal_actions(self: Any, out: Any) -> Any:
        return 0

    def apply(self: Any, action: Any) -> Any:
        pass

    other_ways = "apply_joint" in found or "apply_vector" in found
    defaults: dict[str, Any] = {"legal_actions": legal_actions, "apply": apply}
    return {name: default for name, default in defaults.items() if other_ways and name not in found}


def _check_kinds(cls: type, facts: Facts, found: Mapping[str, FunctionType]) -> None:
    """Raise an error if one of two facts or methods that need each other is missing."""
    for first, second, what in PAIRS:
        if (first in found) != (second in found):
            here, lacking = (first, second) if first in found else (second, first)
            raise GameDefinitionError(f"{cls.__name__} has {here} but lacks {lacking}; both belong to {what}")
    if ("chance_outcomes" in found) != (facts.num_outcomes is not None):
        here, lacking = "chance_outcomes", "num_outcomes=... (the number of outcomes) in its decorator"
        if here not in found:
            here, lacking = "num_outcomes", "the method chance_outcomes"
        raise GameDefinitionError(f"{cls.__name__} has {here} but lacks {lacking}; both belong to chance")
    for fact, method, what in (
        ("observation_shape", "observe", "observations"),
        ("symmetries", "transform", "symmetries"),
    ):
        if (method in found) != (getattr(facts, fact) is not None):
            here, lacking = (method, f"{fact}=... in its decorator")
            if here not in found:
                here, lacking = fact, f"the method {method}"
            raise GameDefinitionError(f"{cls.__name__} has {here} but lacks {lacking}; both belong to {what}")
    if "transform_outcome" in found and "transform" not in found:
        raise GameDefinitionError(
            f"{cls.__name__} has transform_outcome but lacks transform; both belong to symmetries"
        )
    if "transform" in found and facts.action_size is not None:
        raise GameDefinitionError(f"{cls.__name__} has transform and continuous actions, which have no symmetries")
    if ("sample_action" in found) != (facts.action_size is not None):
        here, lacking = "sample_action", "action_size=... (the length of an action vector) in its decorator"
        if here not in found:
            here, lacking = "action_size", "the methods sample_action and apply_vector"
        raise GameDefinitionError(f"{cls.__name__} has {here} but lacks {lacking}; both belong to continuous actions")


def _did_you_mean(missing: list[str], found: Mapping[str, FunctionType]) -> str:
    close = [
        (wrong, right)
        for right in missing
        for wrong in difflib.get_close_matches(right, [n for n in found if n not in ARITY], 1)
    ]
    return "".join(f"; is {wrong} meant to be {right}?" for wrong, right in close)


def _check_arity(cls: type, name: str, function: FunctionType) -> None:
    names = list(inspect.signature(function).parameters)
    if len(names) != ARITY[name] + 1:
        line = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
        wanted = ", ".join(filter(None, ("self", ARGUMENTS.get(name))))
        raise GameDefinitionError(
            f"{cls.__name__}.{name} must be {name}({wanted}), not {name}({', '.join(names)}) ({line})"
        )


def _default_player(cls: type, facts: Facts, fields: Mapping[str, Field]) -> FunctionType:
    if "player" in fields and not fields["player"].shape:

        def current_player(self: Any) -> Any:
            return self.player

    elif facts.players == 1:

        def current_player(self: Any) -> Any:
            return 0

    else:
        raise GameDefinitionError(
            f"{cls.__name__} does not define the player to move: add a field `player` or a method `current_player`"
        )
    return current_player  # type: ignore[return-value]


def _wrapping_around(function: FunctionType) -> Any:
    """Return the method without overflow warnings: 64-bit words wrap around, as in compiled code."""

    @functools.wraps(function)
    def quiet(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return quiet
