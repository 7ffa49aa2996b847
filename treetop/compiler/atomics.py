"""Numba's types and code for memory that several threads share."""

from __future__ import annotations

import os
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from treetop.compiler import intrinsics

_YIELD = "sched_yield" if os.name == "posix" else None


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    place = context.cast(builder, index, index_type, types.intp)
    return cgutils.get_item_pointer(context, builder, array_type, view, [place], wraparound=False)


def _is_row(array: Any) -> bool:
    return isinstance(array, types.Array) and array.ndim == 1


@type_callable(intrinsics.atomic_add)
def _type_atomic_add(context: Any) -> Any:
    return lambda array, index, amount: array.dtype if _is_row(array) else None


@lower_builtin(intrinsics.atomic_add, types.Array, types.Integer, types.Number)
def _atomic_add(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, index, amount = signature.args
    pointer = _pointer(context, builder, array, args[0], index, args[1])
    value = context.cast(builder, args[2], amount, array.dtype)
    operation = "fadd" if isinstance(array.dtype, types.Float) else "add"
    return builder.atomic_rmw(operation, pointer, value, "monotonic")


@type_callable(intrinsics.atomic_add_field)
def _type_atomic_add_field(context: Any) -> Any:
    return lambda records, index, field, amount: types.none if isinstance(field, types.StringLiteral) else None


@lower_builtin(intrinsics.atomic_add_field, types.Array, types.Integer, types.StringLiteral, types.Number)
def _atomic_add_field(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    records, index, field, amount = signature.args
    record, kind = records.dtype, records.dtype.typeof(field.literal_value)
    start = builder.bitcast(_pointer(context, builder, records, args[0], index, args[1]), ir.IntType(8).as_pointer())
    place = builder.gep(start, [ir.Constant(ir.IntType(64), record.offset(field.literal_value))])
    pointer = builder.bitcast(place, context.get_data_type(kind).as_pointer())
    value = context.cast(builder, args[3], amount, kind)
    builder.atomic_rmw("fadd" if isinstance(kind, types.Float) else "add", pointer, value, "monotonic")
    return context.get_dummy_value()


@type_callable(intrinsics.compare_and_swap)
def _type_compare_and_swap(context: Any) -> Any:
    return lambda array, index, expected, new: types.boolean if _is_row(array) else None


@lower_builtin(intrinsics.compare_and_swap, types.Array, types.Integer, types.Integer, types.Integer)
def _compare_and_swap(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, index, *kinds = signature.args
    pointer = _pointer(context, builder, array, args[0], index, args[1])
    old, new = (context.cast(builder, value, kind, array.dtype) for value, kind in zip(args[2:], kinds, strict=True))
    return builder.extract_value(builder.cmpxchg(pointer, old, new, "acq_rel", "acquire"), 1)


@type_callable(intrinsics.load_shared)
def _type_load_shared(context: Any) -> Any:
    return lambda array, index: array.dtype if _is_row(array) else None


@lower_builtin(intrinsics.load_shared, types.Array, types.Integer)
def _load_shared(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, index = signature.args
    pointer = _pointer(context, builder, array, args[0], index, args[1])
    return builder.load_atomic(pointer, "acquire", array.dtype.bitwidth // 8)


@type_callable(intrinsics.store_shared)
def _type_store_shared(context: Any) -> Any:
    return lambda array, index, value: types.none if _is_row(array) else None


@lower_builtin(intrinsics.store_shared, types.Array, types.Integer, types.Integer)
def _store_shared(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, index, kind = signature.args
    pointer = _pointer(context, builder, array, args[0], index, args[1])
    value = context.cast(builder, args[2], kind, array.dtype)
    builder.store_atomic(value, pointer, "release", array.dtype.bitwidth // 8)
    return context.get_dummy_value()


@type_callable(intrinsics.publish)
def _type_publish(context: Any) -> Any:
    return lambda: types.none


@lower_builtin(intrinsics.publish)
def _publish(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    builder.fence("release")
    return context.get_dummy_value()


@type_callable(intrinsics.yield_thread)
def _type_yield_thread(context: Any) -> Any:
    return lambda: types.none


@lower_builtin(intrinsics.yield_thread)
def _yield_thread(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Call the system's function; where there is none, waiting threads only spin."""
    if _YIELD is not None:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _YIELD), [])
    return context.get_dummy_value()
