"""States as Python objects: the methods that every class of a game is given, and advice about wrong attributes."""

from __future__ import annotations

import dis
import linecache
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

from treetop.checks import suggest
from treetop.errors import GameDefinitionError
from treetop.game.fields import ArrayView, Field


def members(cls: type) -> dict[str, Any]:
    """Return the attributes of a class and its bases; those of a subclass replace those of its bases."""
    return {key: value for base in reversed(cls.__mro__[:-1]) for key, value in vars(base).items()}


def refuse_unusable(cls: type, functions: Mapping[str, FunctionType], compiled: Iterable[str]) -> None:
    """Raise an error if a method that is compiled, or one that it calls, uses an attribute that cannot be compiled."""
    advice = {name: _instead(name, value) for name, value in members(cls).items()}
    waiting = [name for name in compiled if name in functions]
    for method in waiting:  # it grows while it is read
        code = functions[method].__code__
        for name, line, is_call in _attributes_of_self(code):
            wrong = advice.get(name)
            if not is_call and isinstance(getattr(cls, name, None), FunctionType):
                wrong = "a method, and is used as a field here: give the field and the method different names"
            if wrong:
                source = linecache.getline(code.co_filename, line).strip()
                raise GameDefinitionError(
                    f"{cls.__name__}.{method} cannot be compiled: `{name}` is {wrong}\n"
                    f"  {code.co_filename}, line {line}{f': {source}' if source else ''}"
                )
            if name in functions and name not in waiting:
                waiting.append(name)


def _instead(name: str, value: Any) -> str:
    """Return what an attribute of a class is and what to write instead; an empty text if it can be compiled."""
    if isinstance(value, list):
        field = f'{name} = treetop.field("i1", {len(value)})'
        return f"a list: make it a tuple, or if it changes during a game a field: {field}"
    if isinstance(value, (staticmethod, classmethod)):
        kind = "static" if isinstance(value, staticmethod) else "class"
        return f"a {kind} method: remove the decorator, and make `self` its first argument"
    if isinstance(value, property):
        return f"a property: remove the decorator, and call it as self.{name}()"
    if isinstance(value, (dict, set, str)):
        return f"a {type(value).__name__}: use numbers, tuples or arrays instead"
    return ""


def _attributes_of_self(code: CodeType) -> Iterator[tuple[str, int, bool]]:
    """Yield each attribute of the first argument that a function uses, with its line and whether it is called."""
    loaded: Any = None
    for instruction in dis.get_instructions(code):
        if loaded == code.co_varnames[:1] and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"):
            line = (instruction.positions and instruction.positions.lineno) or code.co_firstlineno
            # Since Python 3.12 the lowest bit of the argument says that a method is loaded to be called.
            is_call = instruction.opname == "LOAD_METHOD" or (
                instruction.opname == "LOAD_ATTR" and sys.version_info >= (3, 12) and bool((instruction.arg or 0) & 1)
            )
            yield instruction.argval, line, is_call
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        loaded = names[-1:] if instruction.opname.startswith("LOAD_FAST") else None


def add_state_methods(cls: type) -> None:
    """Give a class the methods of states: copies, a text, and errors for attributes that it does not have."""
    cls.__init__ = _refuse_arguments  # type: ignore[misc]
    cls.__setattr__ = _refuse_unknown_fields  # type: ignore[method-assign]
    cls.__copy__ = _copy_state  # type: ignore[attr-defined]
    cls.__deepcopy__ = _copy_state  # type: ignore[attr-defined]
    for name, method in (("copy", _copy_state), ("__getattr__", _refuse_unknown_attributes)):
        if not hasattr(cls, name):
            setattr(cls, name, method)
    if "__repr__" not in vars(cls):
        cls.__repr__ = _show_state  # type: ignore[method-assign]


def is_state_method(function: Any) -> bool:
    """Return whether a method was given to its class by `add_state_methods`."""
    return hasattr(function, "__treetop_state__")


def _state_method(function: Any) -> Any:
    function.__treetop_state__ = True  # distinguishes it from the user's methods
    return function


@_state_method
def _refuse_arguments(self: Any, *args: Any) -> None:
    raise TypeError("a state is created by its game: call the game, or use treetop.position")


@_state_method
def _refuse_unknown_fields(self: Any, name: str, value: Any) -> None:
    if not isinstance(getattr(type(self), name, None), Field):
        if isinstance(constant := getattr(type(self), name, None), (int, float)):
            kind = "f8" if isinstance(constant, float) else "bool" if isinstance(constant, bool) else "i4"
            raise AttributeError(
                f'`{name}` is a constant of the class: declare what changes, {name} = treetop.field("{kind}")'
            )
        raise AttributeError(_unknown(type(self), name, "field"))
    object.__setattr__(self, name, value)


@_state_method
def _refuse_unknown_attributes(self: Any, name: str) -> Any:
    """Raise an error for an attribute that was not found; the error of a property is raised again."""
    if hasattr(type(self), name):
        return object.__getattribute__(self, name)
    raise AttributeError(_unknown(type(self), name, "field or method"))


def _unknown(cls: Any, name: str, what: str) -> str:
    return f"{cls.__name__} has no {what} {name!r}; {suggest(name, cls._game.fields, listed='its fields are')}"


@_state_method
def _copy_state(self: Any, memo: Any = None) -> Any:
    """Return an independent copy of this state."""
    return type(self)._game.view(self._states.copy(), 0)


@_state_method
def _show_state(self: Any) -> str:
    inside = ", ".join(
        repr(value) if isinstance(value := getattr(self, name), ArrayView) else f"{name}={value}"
        for name in type(self)._game.fields
    )
    return f"{type(self).__name__}({inside})"
