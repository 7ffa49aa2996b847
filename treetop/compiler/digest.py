"""A digest of everything that determines what a function does.

It covers bytecode, constants, closure values, defaults, and every global that the function uses, transitively: a helper
in another module counts, a comment does not. The text of a file would not be enough: it does not include imports and
closures, and a notebook has none.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import hashlib
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction
from treetop.compiler.specialise import ByMethod
from treetop.errors import GameDefinitionError

_FOREIGN = ("numpy", "math", "numba", "builtins", "operator", "treetop.compiler")
"""Packages whose functions are included by name only: their versions are part of the build digest."""


_UNCHECKED = ("as_strided", "carray", "farray")
"""Functions of those packages whose arrays may exceed their memory, which index checks do not detect."""


def randomness(module: str) -> str:
    """Return the advice for a game that uses a module, or a name in it, whose random numbers no seed determines.

    The text is empty for other modules.

    >>> randomness("numpy.random.randint")[:52]
    'no seed of a search determines numpy.random.randint;'
    >>> randomness("numpy.sqrt")
    ''
    """
    if not f"{module}.".startswith(("random.", "numpy.random.", "secrets.")):
        return ""
    return (
        f"no seed of a search determines {module}; random numbers come from `rng`, the argument of deal, determinize, "
        "random_action, rollout_action, random_outcome and sample_action; what chance decides later is listed by "
        "chance_outcomes"
    )


def digest(functions: Mapping[str, types.FunctionType], facts: Mapping[str, object]) -> str:
    """Return a hex digest of functions by name, and of plain facts that belong to them."""
    return watched_digest(functions, facts)[0]


def watched_digest(functions: Mapping[str, types.FunctionType], facts: Mapping[str, object]) -> tuple[str, Watch]:
    """Return a digest, and a watch that knows whether it still holds."""
    reader = _Reader()
    for name in sorted(functions):
        reader.put("method", name)
        reader.function(functions[name])
    for name in sorted(facts):
        reader.put("fact", name)
        reader.value(facts[name], f"the fact {name!r}")
    return reader.hexdigest(), reader.watch


_ABSENT = object()


class Watch:
    """The objects that a digest was computed from. To compare them takes microseconds, a digest a millisecond.

    All objects that a digest may cover are immutable, except functions and arrays: a name that still refers to the same
    object has the same value.
    """

    def __init__(self) -> None:
        self._names: list[tuple[Mapping[str, Any], str, object]] = []
        self._cells: list[tuple[types.CellType, object]] = []
        self._functions: list[tuple[types.FunctionType, types.CodeType, object]] = []
        self._arrays: list[tuple[np.ndarray[Any, Any], bytes]] = []

    def name(self, names: Mapping[str, Any], name: str) -> None:
        """Watch a name of a module or of a class, also one that does not exist yet."""
        self._names.append((names, name, names.get(name, _ABSENT)))

    def cell(self, cell: types.CellType) -> None:
        """Watch a closure variable."""
        self._cells.append((cell, _content(cell)))

    def function(self, function: types.FunctionType) -> None:
        """Watch the code and the default arguments of a function."""
        self._functions.append((function, function.__code__, function.__defaults__))

    def array(self, array: np.ndarray[Any, Any]) -> None:
        """Watch the contents of an array."""
        self._arrays.append((array, array.tobytes()))

    def holds(self) -> bool:
        """Return whether nothing has changed, so that the digest would be the same."""
        return (
            all(names.get(name, _ABSENT) is value for names, name, value in self._names)
            and all(_content(cell) is value for cell, value in self._cells)
            and all(
                function.__code__ is code and function.__defaults__ is defaults
                for function, code, defaults in self._functions
            )
            and all(array.tobytes() == content for array, content in self._arrays)
        )


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return _ABSENT


@dataclass(frozen=True)
class _Reference:
    """A global name in a function, with the attributes read from it: `np.uint64` is ("np", ("uint64",))."""

    name: str
    attributes: tuple[str, ...]
    line: int


@functools.cache
def _references(code: types.CodeType) -> tuple[_Reference, ...]:
    return tuple(_walk(code))


_LOAD_NAMES = frozenset(dis.opmap[name] for name in ("LOAD_GLOBAL", "LOAD_NAME"))
_LOAD_ATTRIBUTES = frozenset(dis.opmap[name] for name in ("LOAD_ATTR", "LOAD_METHOD") if name in dis.opmap)
_FLAGGED = frozenset(  # the lowest bit of their argument is a flag, the others are the index of a name
    dis.opmap[name] for name in (("LOAD_GLOBAL",) if sys.version_info < (3, 12) else ("LOAD_GLOBAL", "LOAD_ATTR"))
)


def _walk(code: types.CodeType) -> Iterator[_Reference]:
    """Yield what `dis.get_instructions` would show, ten times as fast: every search of a new process waits for it."""
    name, attributes, line, high = "", [], code.co_firstlineno, 0  # type: str, list[str], int, int
    for (operation, low), position in zip(_pairs(code.co_code), code.co_positions(), strict=True):
        if operation == 0:  # an inline cache, which belongs to the instruction before it
            continue
        argument = high | low
        high = argument << 8 if operation == dis.EXTENDED_ARG else 0
        if operation == dis.EXTENDED_ARG:
            continue
        if name and operation in _LOAD_ATTRIBUTES:
            attributes.append(code.co_names[argument >> (operation in _FLAGGED)])
            continue
        if name:
            yield _Reference(name, tuple(attributes), line)
            name, attributes = "", []
        if operation in _LOAD_NAMES:
            name, line = code.co_names[argument >> (operation in _FLAGGED)], position[0] or line
    if name:
        yield _Reference(name, tuple(attributes), line)


def _pairs(raw: bytes) -> Iterator[tuple[int, int]]:
    return zip(raw[::2], raw[1::2], strict=True)


class _Reader:
    """Feeds values into a hash, each with its kind and length, so that different inputs differ."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._seen: dict[int, int] = {}
        self._keep: list[object] = []  # ids are unique only while the objects exist
        self._within: set[int] = set()  # the functions that are being read, from the outermost to the current one
        self.watch = Watch()

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def put(self, kind: str, data: str | bytes) -> None:
        raw = data.encode() if isinstance(data, str) else data
        self._hash.update(f"{kind}:{len(raw)}:".encode())
        self._hash.update(raw)

    def function(self, function: types.FunctionType) -> None:
        where = f"{function.__qualname__} ({function.__code__.co_filename}, line {function.__code__.co_firstlineno})"
        if id(function) in self._within:
            raise GameDefinitionError(
                f"{where} calls itself, directly or through another function: compiled code cannot bound the depth of "
                "recursion; write it as a loop"
            )
        if id(function) in self._seen:  # a helper used twice
            self.put("again", str(self._seen[id(function)]))
            return
        self._seen[id(function)] = len(self._seen)
        self._keep.append(function)
        self._within.add(id(function))
        self._read(function, where)
        self._within.remove(id(function))

    def _read(self, function: types.FunctionType, where: str) -> None:
        self.watch.function(function)
        self._code(function.__code__, function.__doc__, where)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.put("closure", name)
            self.watch.cell(cell)
            content = _content(cell)
            if content is _ABSENT:
                self.put("empty", "")
            else:
                self.value(content, f"the closure variable {name!r} of {where}")
        self.value(function.__defaults__ or (), f"a default argument of {where}")
        self._globals(function.__code__, function)

    def _code(self, code: types.CodeType, doc: str | None, where: str) -> None:
        self.put("code", code.co_code)
        self.put("table", code.co_exceptiontable)
        self.put("shape", repr((code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)))
        self.put("names", repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, None, where)
            elif constant is not None and constant == doc:
                self.put("doc", "")  # docstrings do not change the rules
            else:
                self.value(constant, where)

    def _globals(self, code: types.CodeType, function: types.FunctionType) -> None:
        for reference in _references(code):
            self.put("global", ".".join((reference.name, *reference.attributes)))
            where = f"{reference.name!r} in {code.co_filename}, line {reference.line}"
            self.watch.name(function.__globals__, reference.name)
            if reference.name in function.__globals__:
                self._global(function.__globals__[reference.name], reference.attributes, where)
            elif not hasattr(builtins, reference.name):
                self.put("missing", reference.name)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._globals(constant, function)

    def _global(self, value: object, attributes: tuple[str, ...], where: str) -> None:
        while isinstance(value, types.ModuleType):
            _refuse_randomness(".".join((value.__name__, *attributes)), where)
            if _is_foreign(value.__name__):
                _refuse_unchecked(attributes, where)
                self.put("foreign", ".".join((value.__name__, *attributes)))
                return
            if not attributes:
                raise GameDefinitionError(
                    f"{where} is a module; use a function or constant of it instead, as in module.name"
                )
            head, attributes = attributes[0], attributes[1:]
            self.watch.name(vars(value), head)
            if not hasattr(value, head):
                self.put("missing", head)
                return
            value = getattr(value, head)
        self.value(value, where)

    def value(self, value: object, where: str) -> None:
        for owner in (value, getattr(value, "__self__", None)):
            _refuse_randomness(type(owner).__module__, where)
        if isinstance(value, CompiledFunction):
            self.put("errors", f"{value.python_errors} {value.inline}")
            self.function(value.function)
        elif isinstance(value, ByMethod):
            self.put("by method", value.method)
            self.value(value.yes, where)
            self.value(value.no, where)
        elif isinstance(value, types.FunctionType) and _is_foreign(value.__module__):
            _refuse_unchecked((value.__name__,), where)
            self.put("foreign", f"{value.__module__}.{value.__qualname__}")
        elif isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(getattr(value, "py_func", None), types.FunctionType):
            raise GameDefinitionError(
                f"{where} is a function under a decorator of Numba, which does not check indices: "
                "put @treetop.compiled above it instead"
            )
        elif isinstance(value, enum.Enum):
            self.put("enum", f"{type(value).__qualname__}.{value.name}")
            self.value(value.value, where)
        elif isinstance(value, (bool, int, str, bytes, type(None), type(...), complex, range)):
            self.put(type(value).__name__, repr(value))
        elif isinstance(value, float):
            self.put("float", value.hex())
        elif isinstance(value, (tuple, frozenset)):
            self.put(type(value).__qualname__, str(len(value)))
            for item in value if isinstance(value, tuple) else sorted(value, key=repr):
                self.value(item, where)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            self.watch.array(value)
            self.put("array", f"{value.dtype.descr}{value.shape}")
            self.put("bytes", np.ascontiguousarray(value).tobytes())
        elif isinstance(value, np.generic) and value.dtype != object:
            self.put("scalar", value.dtype.str)
            self.put("bytes", value.tobytes())
        elif isinstance(value, np.dtype):
            self.put("dtype", repr(value))
        elif isinstance(value, type):
            self._class(value, where)
        elif isinstance(value, types.BuiltinFunctionType):
            self.put("builtin", f"{value.__module__}.{value.__qualname__}")
        elif isinstance(value, types.ModuleType) and _is_foreign(value.__name__):
            self.put("foreign", value.__name__)
        elif isinstance(value, np.ufunc):
            self.put("ufunc", value.__name__)
        else:
            raise GameDefinitionError(
                f"{where} is {_describe(value)}, whose changes cannot be detected; "
                "use numbers, strings, tuples, NumPy arrays or functions instead"
            )

    def _class(self, value: type, where: str) -> None:
        self.put(
            "class", f"{value.__module__}.{value.__qualname__}" if _is_foreign(value.__module__) else value.__qualname__
        )
        if issubclass(value, enum.Enum):
            for member in value:
                self.value(member, where)
        elif issubclass(value, tuple) and hasattr(value, "_fields"):
            self.value(value._fields, where)
        elif not _is_foreign(value.__module__):
            raise GameDefinitionError(f"{where} is the class {value.__qualname__}, which compiled code cannot use")


def _is_foreign(module: str | None) -> bool:
    return module is not None and any(module == name or module.startswith(name + ".") for name in _FOREIGN)


def _refuse_unchecked(names: tuple[str, ...], where: str) -> None:
    for name in set(names) & set(_UNCHECKED):
        raise GameDefinitionError(
            f"{where}: an array by {name} may exceed its memory, which compiled code does not check; "
            "index the array itself"
        )


def _refuse_randomness(module: str, where: str) -> None:
    advice = randomness(module)
    if advice:
        raise GameDefinitionError(f"{where}: {advice}")


def _describe(value: Any) -> str:
    kind = type(value).__name__
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
