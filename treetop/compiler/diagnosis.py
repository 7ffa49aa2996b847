"""Explain Numba's errors by the line of the user's code."""

from __future__ import annotations

import dis
import linecache
import operator
import re
import traceback
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from treetop.compiler.blueprint import Blueprint
from treetop.compiler.digest import randomness
from treetop.errors import CompileError, TreetopError

_HINTS = (
    (
        r"_forward\.<locals>\.implementation",
        "a call of one of the game's methods does not match: pass its arguments by position, and check it alone",
    ),
    (
        r"built-in function (?:and_|or_|xor|lshift|rshift|invert)>.*float64",
        "an unsigned 64-bit word was mixed with a signed number, which gives a float: write np.uint64(1) for 1",
    ),
    (r"maximum recursion depth", "a method or helper calls itself: write it as a loop"),
    (
        r"Untyped global name '(\w+)'.*?type of <class 'function'>",
        "{0} is a plain function: put @treetop.compiled above it",
    ),
    (r"Untyped global name '(\w+)'", "the global {0} has a type that compiled code cannot use"),
    (r"NameError: name '(\w+)' is not defined", "the name {0} is not defined"),
    (r"Unknown attribute '(\w+)' of type State", "there is no field or method {0}; the fields are {fields}"),
    (r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", "{0} of the module {1} cannot be compiled"),
    (r"Unknown attribute '(\w+)' of type (\S+)", "{1} has no attribute {0} in compiled code"),
    (r"Cannot unify (.+?) and (.+?) for '(\w+?)(?:\.\d+)?'", "the variable {2} is sometimes {0} and sometimes {1}"),
    (r"Unsupported array index type|Cannot (?:determine|resolve)", None),
    (
        r"Function\(<built-in function setitem>\) found.*?setitem\(readonly array",
        "an array of the module or of the class is constant: use a field for what changes",
    ),
    (r"No implementation of function Function\((.+?)\) found", "{0} cannot be used in this way in compiled code"),
    (r"The (?:use of|feature) (.+?) is (?:unsupported|not supported)", "{0} cannot be compiled"),
)


def compile_method(blueprint: Blueprint, name: str, arguments: Callable[[Any], tuple[Any, ...]]) -> None:
    """Compile one method alone, and raise a `CompileError` with the line of an error."""
    from numba import types

    from treetop.compiler import lowering, words

    lowering.register(blueprint)
    signature = (
        lowering.state_type(blueprint),
        *(words.rng_type if kind == "rng" else kind for kind in arguments(types)),
    )
    dispatcher = lowering.dispatcher_of(blueprint, name)
    try:
        dispatcher.compile(signature)
    except TreetopError:
        raise
    except Exception as error:  # Numba raises many kinds of errors, some of them not its own
        raise CompileError(_explain(blueprint, name, error)) from error
    _refuse_wrong_result(blueprint, name, dispatcher.overloads[signature].signature.return_type)


def refuse_statements(what: str, function: FunctionType) -> None:
    """Raise a `CompileError` for statements that need the interpreter: `print` and `import`."""
    for code in _nested(function.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname == "IMPORT_NAME":
                module = instruction.argval
                reason = randomness(module) or f"write `import {module}` at the top of the module"
            elif (instruction.opname, instruction.argval) == ("LOAD_GLOBAL", "print"):
                if "print" in function.__globals__:
                    continue
                reason = (
                    "`print` works only in interpreted code: remove it here, and step through a position: "
                    "treetop.position(...).play(...) is interpreted, and prints"
                )
            else:
                continue
            line = (instruction.positions and instruction.positions.lineno) or code.co_firstlineno
            raise CompileError(_message(what, code.co_filename, line, reason))


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _explain(blueprint: Blueprint, name: str, error: Exception) -> str:
    what = f"{blueprint.name}.{name}"
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    statement = _statement(error)
    field = getattr(statement, "attr", None)
    if field in (blueprint.dtype.names or ()):
        array = blueprint.dtype[field].shape
        advice = f"write self.{field}[:] = ..., which fills the array" if array else "it cannot hold this value"
        return _message(what, statement.loc.filename, statement.loc.line, f"the field {field}: {advice}")
    if statement is not None and not text:
        return _message(what, statement.loc.filename, statement.loc.line, "Numba cannot compile this statement")
    return _message(what, *_place(blueprint, name, error, text), _reason(blueprint, text))


def _statement(error: Exception) -> Any:
    """Return the statement that Numba was compiling when it raised the error, or None."""
    frames = [frame.f_locals.get("inst") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((found for found in reversed(frames) if hasattr(found, "loc")), None)


def _message(what: str, file: str, line: int, reason: str) -> str:
    source = linecache.getline(file, line).rstrip()
    shown = f"\n    {line} | {source.strip()}" if source else ""
    return (
        f"{what} cannot be compiled: {reason}\n  {file}, line {line}{shown}\n"
        "  A game's methods may use numbers, arrays, tuples, the game's fields and methods, NumPy's functions on "
        "arrays, and helpers under @treetop.compiled."
    )


def _place(blueprint: Blueprint, name: str, error: Exception, text: str) -> tuple[str, int]:
    """Return the innermost line outside Numba and Treetop that the error mentions."""
    code = blueprint.functions[name].__code__
    places = [(file, int(line)) for file, line in re.findall(r'File "([^"]+)", line (\d+)', text)]
    location = getattr(error, "loc", None)
    if location is not None and location.line:
        places.append((location.filename, location.line))
    own = [
        place
        for place in places
        if place[0] == code.co_filename or place[0].endswith(code.co_filename.rsplit("/", 1)[-1])
    ]
    for file, line in own or [
        place for place in places if "/numba/" not in place[0] and "/treetop/compiler/" not in place[0]
    ]:
        return (code.co_filename if own else file), line
    return code.co_filename, code.co_firstlineno


def _reason(blueprint: Blueprint, text: str) -> str:
    for pattern, words in _HINTS:
        found = re.search(pattern, text, re.DOTALL)
        if found and words:
            fields = ", ".join(field for field in blueprint.dtype.names or () if not field.startswith("_"))
            return words.format(*(f"`{group.strip()}`" for group in found.groups()), fields=fields)
    lines = [line.strip() for line in text.splitlines()]
    reasons = [
        line for line in lines if line and not line.startswith(("Failed in", "File ", "During:", "^", "<source"))
    ]
    return reasons[0] if reasons else text.strip() or "Numba gave no reason"


def refuse_differences(blueprint: Blueprint, name: str, result: Any) -> None:
    """Raise a `CompileError` for arithmetic whose compiled result differs from the interpreted one.

    These are small unsigned numbers, and unsigned 64-bit words mixed with signed numbers.
    """
    from numba import types

    typemap = result.type_annotation.typemap
    for expression, signature in result.type_annotation.calltypes.items():
        reason = _unsafe_access(expression, signature, typemap, types)
        if reason:
            raise CompileError(
                _message(f"{blueprint.name}.{name}", expression.loc.filename, expression.loc.line, reason)
            )
        operation = getattr(expression, "op", "")
        if signature is None or operation not in ("binop", "inplace_binop", "unary"):
            continue
        sides = (expression.value,) if operation == "unary" else (expression.lhs, expression.rhs)
        reason = _difference(expression.fn, [typemap[side.name] for side in sides], types)
        if reason:
            raise CompileError(
                _message(f"{blueprint.name}.{name}", expression.loc.filename, expression.loc.line, reason)
            )


def _unsafe_access(statement: Any, signature: Any, typemap: Any, types: Any) -> str | None:
    """Return why a store or an index is refused: a float in an integer field, or an index that Numba does not check."""
    if signature is None or not signature.args:
        return None
    target = signature.args[0]
    parts = {**vars(statement), **vars(statement).get("_kws", {})}  # of a statement, or of an expression
    if isinstance(target, types.NumpyFlatType) and "index" in parts:
        return "an index of .flat is not checked in compiled code; index the array itself"
    stored = typemap.get(getattr(parts.get("value"), "name", None))
    if not isinstance(stored, types.Float) or "target" not in parts:
        return None
    attribute = parts.get("attr")
    if (
        attribute is not None
        and isinstance(target, types.Record)
        and isinstance(target.fields[attribute].type, types.Integer)
    ):
        return f"the field {attribute} holds whole numbers, and this is a float: use int(...), // or an f8 field"
    if attribute is None and isinstance(target, types.NestedArray) and isinstance(target.dtype, types.Integer):
        return "a field of whole numbers is given a float: use int(...), // or an f8 field"
    return None


def _difference(function: Any, kinds: list[Any], types: Any) -> str | None:
    """Return why the result of an operation differs between the modes, or None."""
    integers = all(isinstance(kind, types.Integer) for kind in kinds)
    small_unsigned = integers and all(not kind.signed and kind.bitwidth < 64 for kind in kinds)
    if function in (operator.sub, operator.isub, operator.neg, operator.invert) and small_unsigned:
        return (
            "the difference or negation of unsigned numbers cannot be negative in compiled code; "
            "give the field a signed type, such as i2"
        )
    if function is operator.invert and isinstance(kinds[0], types.Boolean):
        return "~ of a bool is an int in interpreted code; write `not`"
    if function not in _MIXING or not integers or len(kinds) < 2:
        return None
    words = [kind for kind in kinds if not kind.signed and kind.bitwidth == 64]
    signed = [kind for kind in kinds if kind.signed]
    if not words or not signed:
        return None
    if function in (operator.and_, operator.iand) and getattr(signed[0], "literal_value", -1) >= 0:
        return None  # the result is small
    return (
        "an unsigned 64-bit word and a signed number have no common type: write np.uint64(...) around the signed number"
    )


_MIXING = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.mod,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.ifloordiv,
    operator.imod,
    operator.iand,
    operator.ior,
    operator.ixor,
)


def _refuse_wrong_result(blueprint: Blueprint, name: str, returned: Any) -> None:
    from numba import types

    code = blueprint.functions[name].__code__
    place = (code.co_filename, code.co_firstlineno)
    if name in RETURN_INTEGERS and not isinstance(returned, (types.Integer, types.Boolean)):
        reason = f"it must return {RETURN_INTEGERS[name]} on every path, not {returned}"
        raise CompileError(_message(f"{blueprint.name}.{name}", *place, reason))
    if name in RETURN_NOTHING and not isinstance(returned, types.NoneType):
        reason = f"it must {RETURN_NOTHING[name]} and return nothing on every path, not {returned}"
        raise CompileError(_message(f"{blueprint.name}.{name}", *place, reason))


RETURN_INTEGERS = {
    "legal_actions": "how many actions it wrote",
    "is_terminal": "True or False",
    "current_player": "the player to move",
    "random_action": "an action",
    "rollout_action": "an action",
    "key": "a whole number",
    "chance_outcomes": "how many outcomes it wrote",
    "random_outcome": "an outcome",
    "information": "a whole number",
    "legal_actions_of": "how many actions it wrote",
    "transform_action": "an action",
    "transform_outcome": "an outcome",
}
"""The methods that return a whole number or a truth value, and its meaning."""

RETURN_NOTHING = {
    "reset": "set the fields",
    "deal": "set the fields",
    "apply": "change the fields",
    "apply_joint": "change the fields",
    "apply_vector": "change the fields",
    "determinize": "change the fields",
    "transform": "change the fields",
    "rewards": "fill out",
    "step_rewards": "fill out",
    "heuristic": "fill out",
    "observe": "fill out",
    "sample_action": "fill out",
}
"""The methods that return nothing, and what they do."""
