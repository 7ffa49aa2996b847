"""Numba's errors, told in terms of the user's own line."""

from __future__ import annotations

import linecache
import operator
import re
from collections.abc import Callable
from typing import Any

from treetop.compiler.blueprint import Blueprint
from treetop.errors import CompileError, TreetopError

_HINTS = (
    (r"Untyped global name '(\w+)'.*?type of <class 'function'>",
     "{0} is a plain function: put @treetop.compiled above it"),
    (r"Untyped global name '(\w+)'", "the global {0} is of a kind that compiled code cannot use"),
    (r"NameError: name '(\w+)' is not defined", "the name {0} is not defined"),
    (r"Unknown attribute '(\w+)' of type State", "there is no field or method {0}; the fields are {fields}"),
    (r"Unknown attribute '(\w+)' of type (\S+)", "{1} has no attribute {0} in compiled code"),
    (r"Cannot unify (.+?) and (.+?) for '(\w+?)(?:\.\d+)?'", "the variable {2} is sometimes {0} and sometimes {1}"),
    (r"Unsupported array index type|Cannot (?:determine|resolve)", None),
    (r"No implementation of function Function\((.+?)\) found", "{0} cannot be used in this way in compiled code"),
    (r"The (?:use of|feature) (.+?) is (?:unsupported|not supported)", "{0} cannot be compiled"),
)


def compile_method(blueprint: Blueprint, name: str, arguments: Callable[[Any], tuple[Any, ...]]) -> None:
    """Compile one method alone, and raise a `CompileError` that shows the line at fault."""
    from numba import types

    from treetop.compiler import lowering

    lowering.register(blueprint)
    signature = (lowering.state_type(blueprint), *(lowering.rng_type if kind == "rng" else kind for kind in arguments(types)))
    dispatcher = lowering.dispatcher_of(blueprint, name)
    try:
        dispatcher.compile(signature)
    except TreetopError:
        raise
    except Exception as error:  # Numba's own errors are of many kinds, and some are not its own
        raise CompileError(_explain(blueprint, name, error)) from error
    _refuse_unsigned_differences(blueprint, name, dispatcher.overloads[signature])
    _refuse_wrong_result(blueprint, name, dispatcher.overloads[signature].signature.return_type)


def _explain(blueprint: Blueprint, name: str, error: Exception) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    file, line = _place(blueprint, name, error, text)
    return _told(blueprint, name, file, line, _reason(blueprint, text))


def _told(blueprint: Blueprint, name: str, file: str, line: int, reason: str) -> str:
    source = linecache.getline(file, line).rstrip()
    shown = f"\n    {line} | {source.strip()}" if source else ""
    return (f"{blueprint.name}.{name} cannot be compiled: {reason}\n  {file}, line {line}{shown}\n"
            "  A game's methods may use numbers, arrays, tuples, its own fields and methods, NumPy's functions on arrays, "
            "and helpers under @treetop.compiled.")


def _place(blueprint: Blueprint, name: str, error: Exception, text: str) -> tuple[str, int]:
    """The innermost line outside Numba and Treetop that the error speaks of."""
    code = blueprint.functions[name].__code__
    places = [(file, int(line)) for file, line in re.findall(r'File "([^"]+)", line (\d+)', text)]
    location = getattr(error, "loc", None)
    if location is not None and location.line:
        places.append((location.filename, location.line))
    own = [place for place in places if place[0] == code.co_filename or place[0].endswith(code.co_filename.rsplit("/", 1)[-1])]
    for file, line in own or [place for place in places if "/numba/" not in place[0] and "/treetop/compiler/" not in place[0]]:
        return (code.co_filename if own else file), line
    return code.co_filename, code.co_firstlineno


def _reason(blueprint: Blueprint, text: str) -> str:
    for pattern, words in _HINTS:
        found = re.search(pattern, text, re.DOTALL)
        if found and words:
            fields = ", ".join(blueprint.dtype.names or ())
            return words.format(*(f"`{group.strip()}`" for group in found.groups()), fields=fields)
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if line and not line.startswith(("Failed in", "File ", "During:", "^", "<source"))]
    return telling[0] if telling else text.strip() or "Numba gave no reason"


def _refuse_unsigned_differences(blueprint: Blueprint, name: str, result: Any) -> None:
    """`a - b` of two small unsigned array elements wraps around when compiled, and does not when interpreted."""
    from numba import types

    typemap = result.type_annotation.typemap
    for expression, signature in result.type_annotation.calltypes.items():
        if signature is None or getattr(expression, "op", "") not in ("binop", "inplace_binop"):
            continue
        difference = expression.fn in (operator.sub, operator.isub)
        kinds = [typemap[side.name] for side in (expression.lhs, expression.rhs)]
        small = all(isinstance(kind, types.Integer) and not kind.signed and kind.bitwidth < 64 for kind in kinds)
        if difference and small:
            reason = "the difference of two unsigned numbers cannot be negative here; give the field a signed type, such as i2"
            raise CompileError(_told(blueprint, name, expression.loc.filename, expression.loc.line, reason))


def _refuse_wrong_result(blueprint: Blueprint, name: str, returned: Any) -> None:
    from numba import types

    code = blueprint.functions[name].__code__
    place = (code.co_filename, code.co_firstlineno)
    if name in _RETURN_INTEGERS and not isinstance(returned, (types.Integer, types.Boolean)):
        reason = f"it must return {_RETURN_INTEGERS[name]} on every path, not {returned}"
        raise CompileError(_told(blueprint, name, *place, reason))


_RETURN_INTEGERS = {
    "legal_actions": "how many actions it wrote",
    "is_terminal": "whether the game is over",
    "current_player": "the player to move",
    "random_action": "an action",
    "rollout_action": "an action",
    "key": "a whole number",
    "chance_outcomes": "how many outcomes it wrote",
}
