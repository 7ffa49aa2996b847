"""Kernels for any game: the methods of a game are called through addresses.

The loop is compiled once for each build and serves every game. A game is passed as the address of its table: the size
of a state, then the address of each of its methods, 0 where it has none. A state is two pointers, to its record and to
the table. Only the small functions in the table are compiled for a game, all together in one kernel, `write_table`.

The source of the loop is the same as for kernels that are specialised for a game, and so are its results. An exception
in a method comes back through the same convention as between any two compiled functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, signature
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)

from treetop.compiler import intrinsics
from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.compiler.lowering import (
    GameType,
    dispatcher_for,
    dispatcher_of,
    element_pointer,
    stack_space,
    state_type_of,
)
from treetop.compiler.specialise import ByMethod
from treetop.compiler.words import rng_type

_word, _bytes = ir.IntType(64), ir.IntType(8).as_pointer()
_SPACES = (4096, 65536)
"""The stack space for a copy of a state, in bytes: one kernel for each of these sizes."""


class Method(NamedTuple):
    """A method of games, as it stands in the table."""

    call: CompiledFunction[..., Any]
    """Calls the method and converts its result to `result`; not used where the method returns this type itself."""
    result: Any
    arguments: tuple[Any, ...]
    exact: bool
    """Whether the method takes arguments of these types; else `call` converts them."""


def _method(call: Callable[..., Any], result: Any, *arguments: Any, exact: bool = True) -> Method:
    return Method(kernel(call), result, arguments, exact)


_actions, _floats, _joint = types.int32[::1], types.float64[::1], types.int64[::1]
METHODS: dict[str, Method] = {
    "reset": _method(lambda state: state.reset(), types.none),
    "legal_actions": _method(lambda state, out: np.int64(state.legal_actions(out)), types.int64, _actions),
    "apply": _method(lambda state, action: state.apply(action), types.none, types.int64),
    "is_terminal": _method(lambda state: bool(state.is_terminal()), types.boolean),
    "rewards": _method(lambda state, out: state.rewards(out), types.none, _floats),
    "current_player": _method(lambda state: np.int64(state.current_player()), types.int64),
    "deal": _method(lambda state, rng: state.deal(rng), types.none, rng_type),
    "random_action": _method(lambda state, rng: np.int64(state.random_action(rng)), types.int64, rng_type),
    "rollout_action": _method(lambda state, rng: np.int64(state.rollout_action(rng)), types.int64, rng_type),
    "chance_outcomes": _method(
        lambda state, out, chances: np.int64(state.chance_outcomes(out, chances)), types.int64, _actions, _floats
    ),
    "step_rewards": _method(lambda state, out: state.step_rewards(out), types.none, _floats),
    "determinize": _method(
        lambda state, player, rng: state.determinize(player, rng), types.none, types.int64, rng_type
    ),
    "key": _method(lambda state: np.uint64(state.key()), types.uint64),
    "heuristic": _method(lambda state, out: state.heuristic(out), types.none, _floats),
    "random_outcome": _method(lambda state, rng: np.int64(state.random_outcome(rng)), types.int64, rng_type),
    "information": _method(lambda state, player: np.uint64(state.information(player)), types.uint64, types.int64),
    "legal_actions_of": _method(
        lambda state, player, out: np.int64(state.legal_actions_of(player, out)), types.int64, types.int64, _actions
    ),
    "apply_joint": _method(lambda state, joint: state.apply_joint(joint), types.none, _joint),
    "sample_action": _method(
        lambda state, rng, out: state.sample_action(rng, out), types.none, rng_type, _floats
    ),
    "apply_vector": _method(lambda state, values: state.apply_vector(values), types.none, _floats),
    "observe": _method(
        lambda state, player, out: state.observe(player, intrinsics.shaped(state, out)),
        types.none, types.int64, types.float32[::1], exact=False,
    ),
    "transform": _method(lambda state, symmetry: state.transform(symmetry), types.none, types.int64),
    "transform_action": _method(
        lambda state, symmetry, action: np.int64(state.transform_action(symmetry, action)),
        types.int64, types.int64, types.int64,
    ),
    "transform_outcome": _method(
        lambda state, symmetry, outcome: np.int64(state.transform_outcome(symmetry, outcome)),
        types.int64, types.int64, types.int64,
    ),
}  # fmt: skip
"""All methods that kernels may call, in the order of the table."""
_PLACES = {name: place for place, name in enumerate(METHODS, start=1)}  # place 0 is the size of a state
TABLE_LENGTH = 1 + len(METHODS)


# The table of a game.


def write_addresses(game: Any, table: Any) -> None:
    """Write the addresses of a game's methods, in compiled code only."""


@kernel
def write_table(game: Any, table: Any) -> None:
    """Write the addresses of a game's methods to `table`; 0 for those that it does not have."""
    write_addresses(game, table)


@type_callable(write_addresses)
def _type_write_addresses(context: Any) -> Any:
    return lambda game, table: types.none if isinstance(game, GameType) else None


@lower_builtin(write_addresses, GameType, types.Array)
def _write_addresses(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    state = state_type_of(signature.args[0])
    for name, method in METHODS.items():
        if name in state.blueprint.functions:
            argument_types = (state, *method.arguments)
            own = _compiled(dispatcher_of(state.blueprint, name), argument_types) if method.exact else None
            if own is not None and own.signature.return_type == method.result:
                compiled = own
            else:
                compiled = _compiled(dispatcher_for(method.call), argument_types)
            context.active_code_library.add_linking_library(compiled.library)
            function = context.declare_function(builder.module, compiled.fndesc)
            place = context.get_constant(types.intp, _PLACES[name])
            pointer = element_pointer(context, builder, signature.args[1], args[1], types.intp, place)
            builder.store(builder.ptrtoint(function, _word), pointer)
    return context.get_dummy_value()


def _compiled(dispatcher: Any, argument_types: tuple[Any, ...]) -> Any:
    dispatcher.compile(argument_types)
    return dispatcher.overloads[argument_types]


# Any game, and its states.


class AnyGameType(types.Type):
    """The type of a game in kernels for any game, with the stack space for a copy of a state."""

    def __init__(self, space: int) -> None:
        self.space = space
        super().__init__(name=f"AnyGame({space})")


class AnyStateType(types.Type):
    """The type of a state in kernels for any game."""

    def __init__(self, space: int) -> None:
        self.space = space
        super().__init__(name=f"AnyState({space})")


class AnyGame:
    """A game as an argument of a kernel for any game."""

    def __init__(self, table: np.ndarray[Any, np.dtype[np.uint64]], methods: object) -> None:
        # The kernels read the table and call the machine code, so both must live as long as this object.
        self._table, self._methods = table, methods
        self.address = table.ctypes.data
        self._numba_type_ = AnyGameType(space_for(int(table[0])))


def space_for(size: int) -> int:
    """Return the stack space that kernels reserve for a copy of a state of `size` bytes."""
    return next(space for space in _SPACES if size <= space)


@typeof_impl.register(AnyGame)
def _typeof_game(value: AnyGame, context: Any) -> AnyGameType:
    return value._numba_type_


@register_model(AnyGameType)
class _AnyGameModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _bytes)


@register_model(AnyStateType)
class _AnyStateModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, [("record", types.voidptr), ("table", types.voidptr)])


@unbox(AnyGameType)
def _unbox_game(typ: Any, value: Any, context: Any) -> NativeValue:
    number = context.pyapi.object_getattr_string(value, "address")
    address = context.pyapi.long_as_ulonglong(number)
    context.pyapi.decref(number)
    return NativeValue(context.builder.inttoptr(address, _bytes))


def _state(context: Any, builder: Any, typ: Any, record: Any, table: Any) -> Any:
    made = cgutils.create_struct_proxy(typ)(context, builder)
    made.record, made.table = builder.bitcast(record, _bytes), table
    return made._getvalue()


def _table_entry(builder: Any, table: Any, place: int) -> Any:
    words = builder.bitcast(table, _word.as_pointer())
    return builder.load(builder.gep(words, [ir.Constant(_word, place)]))


@type_callable(intrinsics.state_at)
def _type_state_at(context: Any) -> Any:
    return lambda game, states, index: AnyStateType(game.space) if isinstance(game, AnyGameType) else None


@lower_builtin(intrinsics.state_at, AnyGameType, types.Array, types.Integer)
def _state_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    record = _record(context, builder, args[0], signature.args[1:], args[1:])
    return _state(context, builder, signature.return_type, record, args[0])


def _record(context: Any, builder: Any, game: Any, kinds: Any, args: Any) -> Any:
    """Return the address of the record at an index of an array of states."""
    view = context.make_array(kinds[0])(context, builder, args[0])
    place = context.cast(builder, args[1], kinds[1], types.intp)
    offset = builder.mul(place, _table_entry(builder, game, 0))
    return builder.gep(builder.bitcast(view.data, _bytes), [offset])


@type_callable(intrinsics.copy_state)
def _type_copy_state(context: Any) -> Any:
    return lambda game, states, place, source, index: types.none if isinstance(game, AnyGameType) else None


@lower_builtin(intrinsics.copy_state, AnyGameType, types.Array, types.Integer, types.Array, types.Integer)
def _copy_state(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    target = _record(context, builder, args[0], signature.args[1:3], args[1:3])
    source = _record(context, builder, args[0], signature.args[3:5], args[3:5])
    cgutils.raw_memmove(builder, target, source, _table_entry(builder, args[0], 0), 1)
    return context.get_dummy_value()


@type_callable(intrinsics.local_copy)
def _type_local_copy(context: Any) -> Any:
    return lambda state: state if isinstance(state, AnyStateType) else None


@lower_builtin(intrinsics.local_copy, AnyStateType)
def _local_copy(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    typ = signature.return_type
    given = cgutils.create_struct_proxy(typ)(context, builder, value=args[0])
    place = stack_space(builder, ir.ArrayType(ir.IntType(8), typ.space))
    size = _table_entry(builder, given.table, 0)
    cgutils.raw_memcpy(builder, builder.bitcast(place, _bytes), given.record, size, 1)
    return _state(context, builder, typ, place, given.table)


# Calls of methods.


@infer_getattr
class _AnyStateAttributes(AttributeTemplate):
    key = AnyStateType

    def generic_resolve(self, state: AnyStateType, name: str) -> Any:
        return types.BoundFunction(_TEMPLATES[name], state) if name in _TEMPLATES else None


def _make_template(name: str, method: Method) -> Any:
    class Template(AbstractTemplate):
        key = f"any_state.{name}"

        def generic(self, args: Any, kws: Any) -> Any:
            return signature(method.result, *method.arguments, recvr=self.this)

    @lower_builtin(Template.key, AnyStateType, types.VarArg(types.Any))
    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        state = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        argument_types = (types.voidptr, *method.arguments)
        kind = context.call_conv.get_function_type(method.result, argument_types)
        function = builder.inttoptr(_table_entry(builder, state.table, _PLACES[name]), kind.as_pointer())
        status, result = context.call_conv.call_function(
            builder, function, method.result, argument_types, [state.record, *args[1:]]
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return Template


_TEMPLATES = {name: _make_template(name, method) for name, method in METHODS.items()}


# Choices by the methods of a game, made while the kernel runs.


def has_method(state: Any, place: int) -> bool:
    """Return whether a game has the method at a place of the table, in compiled code only."""
    raise NotImplementedError


@type_callable(has_method)
def _type_has_method(context: Any) -> Any:
    return lambda state, place: types.boolean if isinstance(state, AnyStateType) else None


@lower_builtin(has_method, AnyStateType, types.Integer)
def _has_method(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    state = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
    words = builder.bitcast(state.table, _word.as_pointer())
    place = context.cast(builder, args[1], signature.args[1], types.int64)
    return builder.icmp_unsigned("!=", builder.load(builder.gep(words, [place])), ir.Constant(_word, 0))


_choices: dict[ByMethod, CompiledFunction[..., Any]] = {}


def choice_at_run_time(chooser: ByMethod) -> CompiledFunction[..., Any]:
    """Return a kernel that calls one of the functions of `chooser`, by the methods of the state's game."""
    if chooser not in _choices:
        yes, no, place = chooser.yes, chooser.no, _PLACES[chooser.method]

        def choose(state: Any, *args: Any) -> Any:
            if has_method(state, place):
                return yes(state, *args)
            return no(state, *args)

        _choices[chooser] = inline_kernel(choose)
    return _choices[chooser]
