"""Numba's types and code for packs: arrays that are read through a table of addresses and shapes.

A kernel copies the table to its own frame (`local_pack`). All functions that it calls are inlined, so the optimiser
knows that nothing changes the copy, and keeps the addresses in registers.
"""

from __future__ import annotations

import hashlib
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from treetop.compiler import intrinsics
from treetop.compiler.packs import Packs

_word, _bytes = ir.IntType(64), ir.IntType(8).as_pointer()
_types: dict[Any, PackType] = {}


class PackType(types.Type):
    """The type of a pack: the names and types of its arrays."""

    def __init__(self, kind: tuple[tuple[str, Any, int], ...]) -> None:
        self.arrays = {name: types.Array(from_dtype(dtype), ndim, "C") for name, dtype, ndim in kind}
        self.places: dict[str, int] = {}
        self.length = 0
        for name, array in self.arrays.items():
            self.places[name] = self.length
            self.length += 1 + array.ndim
        text = repr([(name, dtype.descr, ndim) for name, dtype, ndim in kind])
        super().__init__(name=f"Pack({hashlib.sha256(text.encode()).hexdigest()[:16]})")


@typeof_impl.register(Packs)
def _typeof_pack(value: Packs, context: Any) -> PackType:
    if value.kind not in _types:
        _types[value.kind] = PackType(value.kind)
    return _types[value.kind]


@register_model(PackType)
class _PackModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _bytes)


@unbox(PackType)
def _unbox_pack(typ: Any, value: Any, context: Any) -> NativeValue:
    number = context.pyapi.object_getattr_string(value, "address")
    address = context.pyapi.long_as_ulonglong(number)
    context.pyapi.decref(number)
    return NativeValue(context.builder.inttoptr(address, _bytes))


@infer_getattr
class _PackAttributes(AttributeTemplate):
    key = PackType

    def generic_resolve(self, pack: PackType, name: str) -> Any:
        return pack.arrays.get(name)


@lower_getattr_generic(PackType)
def _read_array(context: Any, builder: Any, pack: PackType, value: Any, name: str) -> Any:
    """Return an array that does not own its memory. Arrays of packs are contiguous."""
    array_type, place = pack.arrays[name], pack.places[name]
    words = builder.bitcast(value, _word.as_pointer())
    read = [_load(builder, words, place + index) for index in range(1 + array_type.ndim)]
    item_type = context.get_data_type(array_type.dtype)
    size = ir.Constant(_word, context.get_abi_sizeof(item_type))
    shape, strides = read[1:], [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = context.make_array(array_type)(context, builder)
    data = builder.inttoptr(read[0], item_type.as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()


def _load(builder: Any, words: Any, place: int) -> Any:
    return builder.load(builder.gep(words, [ir.Constant(_word, place)]))


@type_callable(intrinsics.pack_at)
def _type_pack_at(context: Any) -> Any:
    return lambda packs, index: packs if isinstance(packs, PackType) else None


@lower_builtin(intrinsics.pack_at, PackType, types.Integer)
def _pack_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = context.cast(builder, args[1], signature.args[1], types.int64)
    offset = builder.mul(place, ir.Constant(_word, 8 * signature.args[0].length))
    return builder.gep(args[0], [offset])


@type_callable(intrinsics.local_pack)
def _type_local_pack(context: Any) -> Any:
    return lambda pack: pack if isinstance(pack, PackType) else None


@lower_builtin(intrinsics.local_pack, PackType)
def _local_pack(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Copy the table word by word, so that each word can become a value of its own."""
    length = signature.args[0].length
    with builder.goto_entry_block():
        place = builder.alloca(ir.ArrayType(_word, length))
    source, target = (builder.bitcast(pointer, _word.as_pointer()) for pointer in (args[0], place))
    for index in range(length):
        builder.store(_load(builder, source, index), builder.gep(target, [ir.Constant(_word, index)]))
    return builder.bitcast(place, _bytes)
