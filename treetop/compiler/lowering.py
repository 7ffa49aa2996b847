"""Numba's types and code for games, states, generators and intrinsics.

A game is passed to a kernel as a value of size 0 whose type is keyed by its digest. A state is a record whose type
refers to its game, so `state.apply(action)` in a kernel, or `self.helper(x)` in a method, resolves to the compiled
function of the game, and LLVM specialises the whole loop for it. Only this module uses Numba's extension interface. The
idea with a picture: docs/compiled-games.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    overload_method,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array

from treetop.compiler import atomics as atomics  # registers shared memory
from treetop.compiler import intrinsics
from treetop.compiler import pointers as pointers  # registers packs
from treetop.compiler.blueprint import Blueprint
from treetop.compiler.diagnosis import refuse_statements
from treetop.compiler.digest import digest
from treetop.compiler.functions import CompiledFunction, jit
from treetop.compiler.specialise import ByMethod
from treetop.compiler.words import bare

_blueprints: dict[tuple[str, str, bool], Blueprint] = {}
_known_methods: set[str] = set()
_users_helpers: dict[int, tuple[str, Any]] = {}
_bounds_checked = False  # whether the function that is being compiled checks its indices


class GameType(types.Type):
    """The type of a `GameValue`: one a (name, digest, bounds checked)."""

    def __init__(self, name: str, digest: str, bounds_checked: bool) -> None:
        self.identity = (name, digest, bounds_checked)
        super().__init__(name=f"Game({name},{digest},{bounds_checked})")

    @property
    def key(self) -> tuple[str, str, bool]:
        return self.identity


class StateType(types.Record):
    """The type of a state: a record that refers to its game, and so has methods."""

    def __init__(self, record: types.Record, blueprint: Blueprint) -> None:
        fields = [
            (name, {"type": field.type, "offset": field.offset, "alignment": field.alignment, "title": field.title})
            for name, field in record.fields.items()
        ]
        self.identity = blueprint.identity
        super().__init__(fields, record.size, record.aligned)
        self.name = f"State({','.join(map(str, self.identity))})"

    @property
    def key(self) -> tuple[str, str, bool]:
        return self.identity

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """The part of symbols that names this type; Numba's number of a record starts again in each process."""
        return self.name, ()

    def can_convert_to(self, typingctx: Any, other: Any) -> None:
        """Return None: two games may have the same fields and different rules."""

    @property
    def blueprint(self) -> Blueprint:
        return _blueprints[self.identity]


_word = ir.IntType(64)
register_model(GameType)(models.OpaqueModel)
register_model(StateType)(models.RecordModel)


class GameValue:
    """A game as an argument of a kernel. It has size 0: all its information is in its type."""

    def __init__(self, blueprint: Blueprint) -> None:
        self._numba_type_ = GameType(*blueprint.identity)


@unbox(GameType)
def _unbox_game(typ: Any, value: Any, context: Any) -> NativeValue:
    return NativeValue(context.context.get_dummy_value())


@typeof_impl.register(GameValue)
def _typeof_game(value: GameValue, context: Any) -> GameType:
    return value._numba_type_


@typeof_impl.register(CompiledFunction)
def _typeof_compiled(value: CompiledFunction[..., Any], context: Any) -> Any:
    return types.Dispatcher(dispatcher_for(value))


def dispatcher_for(function: CompiledFunction[..., Any]) -> Any:
    """Return the Numba dispatcher of a compiled function, with index checks where it needs them."""
    module = function.function.__module__
    own = not module.startswith("treetop.")
    if own:
        refuse_statements(function.function.__name__, function.function)
    # User code always checks its indices, helpers of bundled games as requested by the game, kernels never.
    checked = own or (_bounds_checked and module.startswith("treetop.games."))
    dispatcher = function.dispatcher(digest({"helper": function.function}, {}), bounds_checked=checked)
    if own:
        _users_helpers[id(dispatcher)] = (function.function.__name__, dispatcher)
    return dispatcher


@contextmanager
def recording_helpers() -> Iterator[dict[int, tuple[str, Any]]]:
    """Record the names and dispatchers of the user's helpers that are compiled inside the block."""
    _users_helpers.clear()
    yield _users_helpers


@contextmanager
def bounds_checks(on: bool) -> Iterator[None]:
    """Compile the helpers of a bundled game with or without index checks."""
    global _bounds_checked  # Numba calls the typing function without an argument for it
    before, _bounds_checked = _bounds_checked, on
    try:
        yield
    finally:
        _bounds_checked = before


def register(blueprint: Blueprint) -> None:
    """Register a game and all its methods with the compiler."""
    _blueprints[blueprint.identity] = blueprint
    for name in blueprint.functions:
        if name not in _known_methods:
            _known_methods.add(name)
            overload_method(StateType, name)(_forward(name))


def _forward(name: str) -> Any:
    @bare
    def implementation(state: Any, *args: Any) -> Any:
        blueprint = state.blueprint
        if name not in blueprint.functions:
            return None
        function = dispatcher_of(blueprint, name)
        return lambda state, *args: function(state, *args)

    return implementation


def dispatcher_of(blueprint: Blueprint, name: str) -> Any:
    """Return the Numba dispatcher of one of a game's methods."""
    if name not in blueprint.dispatchers:
        function = blueprint.functions[name]
        refuse_statements(f"{blueprint.name}.{name}", function)
        blueprint.dispatchers[name] = jit(function, bounds_checked=blueprint.bounds_checked, python_errors=True)
    return blueprint.dispatchers[name]


def state_type(blueprint: Blueprint) -> StateType:
    """Return the Numba type of a game's states."""
    if "state" not in blueprint.types:
        blueprint.types["state"] = StateType(from_dtype(blueprint.dtype), blueprint)
    found: StateType = blueprint.types["state"]
    return found


def state_type_of(game: GameType) -> StateType:
    """Return the Numba type of the states of a registered game."""
    return state_type(_blueprints[game.identity])


@infer_getattr
class _StateAttributes(AttributeTemplate):
    """Fields and constants of a class. Small integers are read as 64-bit integers, as in interpreted code."""

    key = StateType

    def generic_resolve(self, state: StateType, name: str) -> Any:
        if name in state.fields:
            found = state.typeof(name)
            return types.int64 if _is_small_integer(found) else found
        if name in state.blueprint.constants:
            return self.context.resolve_value_type(state.blueprint.constants[name])
        if name in state.blueprint.functions:
            return None  # a method: it is resolved by the overloads
        raise TypingError(f"Unknown attribute '{name}' of type State")


@lower_getattr_generic(StateType)
def _read_attribute(context: Any, builder: Any, state: StateType, value: Any, name: str) -> Any:
    if name not in state.fields:
        constant = state.blueprint.constants[name]
        return context.get_constant_generic(builder, context.typing_context.resolve_value_type(constant), constant)
    plain = types.Record(
        [(key, {"type": field.type, "offset": field.offset}) for key, field in state.fields.items()],
        state.size,
        state.aligned,
    )
    raw = context.get_getattr(plain, name)(context, builder, plain, value, name)
    found = state.typeof(name)
    return context.cast(builder, raw, found, types.int64) if _is_small_integer(found) else raw


def _is_small_integer(found: Any) -> bool:
    return isinstance(found, types.Integer) and found.bitwidth < 64


# The code of the intrinsics. Each is emitted in the frame of the caller.


@type_callable(intrinsics.state_at)
def _type_state_at(context: Any) -> Any:
    def typer(game: Any, states: Any, index: Any) -> Any:
        return state_type_of(game) if isinstance(game, GameType) else None

    return typer


@lower_builtin(intrinsics.state_at, GameType, types.Array, types.Integer)
def _state_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    pointer = element_pointer(context, builder, signature.args[1], args[1], signature.args[2], args[2])
    return builder.bitcast(pointer, context.get_value_type(signature.return_type))


def element_pointer(context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any) -> Any:
    """Return a pointer to an element of an array."""
    view = context.make_array(array_type)(context, builder, array)
    place = context.cast(builder, index, index_type, types.intp)
    return cgutils.get_item_pointer(context, builder, array_type, view, [place], wraparound=False)


@type_callable(intrinsics.copy_state)
def _type_copy_state(context: Any) -> Any:
    return lambda game, states, place, source, index: types.none if isinstance(game, GameType) else None


@lower_builtin(intrinsics.copy_state, GameType, types.Array, types.Integer, types.Array, types.Integer)
def _copy_state(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kinds = signature.args
    target = element_pointer(context, builder, kinds[1], args[1], kinds[2], args[2])
    source = element_pointer(context, builder, kinds[3], args[3], kinds[4], args[4])
    size = context.get_constant(types.intp, state_type_of(kinds[0]).size)
    cgutils.raw_memmove(builder, target, source, size, 1)
    return context.get_dummy_value()


@type_callable(intrinsics.local_copy)
def _type_local_copy(context: Any) -> Any:
    return lambda state: state if isinstance(state, StateType) else None


@lower_builtin(intrinsics.local_copy, StateType)
def _local_copy(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = stack_space(builder, context.get_data_type(signature.return_type))
    cgutils.raw_memcpy(builder, place, args[0], ir.Constant(_word, 1), signature.return_type.size)
    return place


def stack_space(builder: Any, kind: Any) -> Any:
    """Return a pointer to space in the frame of the function, without the zeros that Numba's own function writes."""
    with builder.goto_entry_block():
        place = builder.alloca(kind)
    place.align = 16
    return place


@type_callable(intrinsics.shaped)
def _type_shaped(context: Any) -> Any:
    def typer(state: Any, out: Any) -> Any:
        if not isinstance(state, StateType) or not state.blueprint.observation_shape:
            return out  # kernels for any game pass the row on; the game's own code shapes it
        return types.Array(out.dtype, len(state.blueprint.observation_shape), "C")

    return typer


@lower_builtin(intrinsics.shaped, types.Any, types.Array)
def _shaped(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    state, row = signature.args
    if signature.return_type == row:
        return args[1]
    view = context.make_array(row)(context, builder, args[1])
    size = context.get_abi_sizeof(context.get_data_type(row.dtype))
    shape, strides = state.blueprint.observation_shape, [size]
    for length in reversed(shape[1:]):
        strides.insert(0, strides[0] * length)
    found = context.make_array(signature.return_type)(context, builder)
    words = [[ir.Constant(_word, number) for number in numbers] for numbers in (shape, strides)]
    populate_array(
        found, data=view.data, shape=words[0], strides=words[1], itemsize=ir.Constant(_word, size), meminfo=None
    )
    return found._getvalue()


@type_callable(intrinsics.prefetch)
def _type_prefetch(context: Any) -> Any:
    return lambda array, index: types.none


@lower_builtin(intrinsics.prefetch, types.Array, types.Integer)
def _prefetch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    pointer = builder.bitcast(
        element_pointer(context, builder, signature.args[0], args[0], signature.args[1], args[1]),
        ir.IntType(8).as_pointer(),
    )
    flag = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    read, keep, data = (ir.Constant(flag, value) for value in (0, 3, 1))
    builder.call(function, [pointer, read, keep, data])
    return context.get_dummy_value()


class ByMethodType(types.Callable, types.Opaque):
    """The type of a function that is chosen by its first argument's game."""

    def __init__(self, chooser: ByMethod) -> None:
        self.chooser = chooser
        super().__init__(name=f"ByMethod({chooser.method},{id(chooser)})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        return self._chosen(args[0]).get_call_type(context, args, kws)

    def get_call_signatures(self) -> Any:
        return (), False

    def get_impl_key(self, signature: Any) -> Any:
        return self._chosen(signature.args[0]).get_impl_key(signature)

    def _chosen(self, state: Any) -> Any:
        from treetop.compiler.indirect import choice_at_run_time

        if isinstance(state, StateType):
            chosen = self.chooser.choose(self.chooser.method in state.blueprint.functions)
        else:
            chosen = choice_at_run_time(self.chooser)
        return types.Dispatcher(dispatcher_for(chosen))


register_model(ByMethodType)(models.OpaqueModel)


@typeof_impl.register(ByMethod)
def _typeof_by_method(value: ByMethod, context: Any) -> ByMethodType:
    return ByMethodType(value)
