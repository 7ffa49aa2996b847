"""Numba's types and code for generators of random numbers and for operations on the bits of a word."""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import lower_builtin, overload, overload_method, register_model, type_callable

from treetop.compiler import intrinsics
from treetop.compiler.rng import MIX_1, MIX_2, STEP

_word = ir.IntType(64)


def bare(function: Any) -> Any:
    """Remove annotations: Numba compares the signatures of an overload and its implementation including them."""
    function.__annotations__ = {}
    return function


class RngType(types.Type):
    """The type of a generator: a pointer to its one word."""

    def __init__(self) -> None:
        super().__init__(name="Rng")


rng_type = RngType()


@register_model(RngType)
class _RngModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _word.as_pointer())


@type_callable(intrinsics.local_rng)
def _type_local_rng(context: Any) -> Any:
    return lambda word: rng_type


@lower_builtin(intrinsics.local_rng, types.uint64)
def _local_rng(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = cgutils.alloca_once(builder, _word)
    builder.store(args[0], place)
    return place


@type_callable(intrinsics.rng_word)
def _type_rng_word(context: Any) -> Any:
    return lambda rng: types.uint64 if isinstance(rng, RngType) else None


@lower_builtin(intrinsics.rng_word, RngType)
def _rng_word(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.load(args[0])


@type_callable(intrinsics.popcount)
def _type_popcount(context: Any) -> Any:
    return lambda bits: types.int64 if isinstance(bits, types.Integer) else None


@lower_builtin(intrinsics.popcount, types.Integer)
def _popcount(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.ctpop(_as_word(context, builder, signature.args[0], args[0]))


@type_callable(intrinsics.lowest_bit)
def _type_lowest_bit(context: Any) -> Any:
    return lambda bits: types.int64 if isinstance(bits, types.Integer) else None


@lower_builtin(intrinsics.lowest_bit, types.Integer)
def _lowest_bit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.cttz(_as_word(context, builder, signature.args[0], args[0]), ir.Constant(ir.IntType(1), 0))


@type_callable(intrinsics.nth_bit)
def _type_nth_bit(context: Any) -> Any:
    return lambda bits, n: types.int64 if isinstance(bits, types.Integer) and isinstance(n, types.Integer) else None


@lower_builtin(intrinsics.nth_bit, types.Integer, types.Integer)
def _nth_bit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    bits = _as_word(context, builder, signature.args[0], args[0])
    n = context.cast(builder, args[1], signature.args[1], types.int64)
    if not llvmlite.binding.get_host_cpu_features().get("bmi2", False):
        return context.compile_internal(builder, _nth_bit_loop, types.int64(types.uint64, types.int64), [bits, n])
    kind = ir.FunctionType(_word, [_word, _word])
    deposit = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.bmi.pdep.64")
    in_range = builder.icmp_unsigned("<", n, ir.Constant(_word, 64))  # a shift by 64 or more is undefined
    mark = builder.select(in_range, builder.shl(ir.Constant(_word, 1), n), ir.Constant(_word, 0))
    return builder.cttz(builder.call(deposit, [mark, bits]), ir.Constant(ir.IntType(1), 0))


def _nth_bit_loop(bits: Any, n: Any) -> Any:
    """Find the n-th set bit by bisection, for processors without a deposit instruction."""
    index = np.int64(0)
    for width in (32, 16, 8, 4, 2, 1):
        low = bits & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))
        count = intrinsics.popcount(low)
        if n >= count:
            n -= count
            bits = bits >> np.uint64(width)
            index += width
        else:
            bits = low
    return index if n == 0 and bits != np.uint64(0) else np.int64(64)


def _as_word(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.cast(builder, value, kind, types.uint64)


def _set_word(rng: Any, word: Any) -> None:
    """Store a generator's word, in compiled code only."""


@type_callable(_set_word)
def _type_set_word(context: Any) -> Any:
    return lambda rng, word: types.none


@lower_builtin(_set_word, RngType, types.uint64)
def _store_word(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    builder.store(args[1], args[0])
    return context.get_dummy_value()


_STEP, _MIX_1, _MIX_2 = np.uint64(STEP), np.uint64(MIX_1), np.uint64(MIX_2)


@njit
def _next_bits(rng: Any) -> Any:
    word = intrinsics.rng_word(rng) + _STEP
    _set_word(rng, word)
    return _mixed(word)


@njit
def _mixed(word: Any) -> Any:
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    return word ^ (word >> np.uint64(31))


@overload(intrinsics.mix_bits)
@bare
def _mix_bits(bits: Any) -> Any:
    return lambda bits: _mixed(np.uint64(bits))


@overload_method(RngType, "bits")
@bare
def _rng_bits(rng: Any) -> Any:
    return lambda rng: _next_bits(rng)


@overload_method(RngType, "below")
@bare
def _rng_below(rng: Any, n: Any) -> Any:
    return lambda rng, n: np.int64(((_next_bits(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@overload_method(RngType, "random")
@bare
def _rng_random(rng: Any) -> Any:
    return lambda rng: np.float64(_next_bits(rng) >> np.uint64(11)) * 2.0**-53
