"""Small operations that take one instruction of a processor but have no direct form in Python.

Each function here is the plain twin, which interpreted code runs and which the compiled version must equal. The
compiled versions are in `lowering.py` and are registered for these functions, so games and kernels call them in both
modes.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from treetop.compiler.rng import Rng, mix

_WORD = (1 << 64) - 1


def popcount(bits: int | np.uint64) -> int:
    """Return the number of set bits of a 64-bit word.

    >>> popcount(0b1011)
    3
    """
    return (int(bits) & _WORD).bit_count()


def lowest_bit(bits: int | np.uint64) -> int:
    """Return the index of the lowest set bit of a 64-bit word; 64 if no bit is set.

    >>> lowest_bit(0b1000), lowest_bit(0)
    (3, 64)
    """
    word = int(bits) & _WORD
    return (word & -word).bit_length() - 1 if word else 64


def nth_bit(bits: int | np.uint64, n: int) -> int:
    """Return the index of the n-th set bit, counted from 0 at the low end; 64 if there are fewer.

    `nth_bit(moves, rng.below(popcount(moves)))` draws a random move from a bit set without listing it.

    >>> [nth_bit(0b1011, n) for n in range(4)]
    [0, 1, 3, 64]
    """
    word = int(bits) & _WORD if n >= 0 else 0
    for _ in range(int(n)):
        word &= word - 1
    return lowest_bit(word)


def mix_bits(bits: int | np.uint64) -> np.uint64:
    """Return a hash of a 64-bit word in which every input bit affects every output bit, for keys of positions.

    >>> bool(mix_bits(1) == mix_bits(1)), bool(mix_bits(1) == mix_bits(2))
    (True, False)
    """
    return np.uint64(mix(int(bits)))


def prefetch(array: np.ndarray[Any, Any], index: Any) -> None:
    """Hint that `array[index]` will be read soon. It never changes a result."""


def state_at(game: Any, states: np.ndarray[Any, Any], index: Any) -> Any:
    """Return the state at `index` of an array of records, as an object with the game's methods. It is not a copy."""
    return game.view(states, index)


def copy_state(game: Any, states: np.ndarray[Any, Any], place: int, source: np.ndarray[Any, Any], index: int) -> None:  # noqa: ARG001
    """Copy the state at `index` of an array of records to a place in another one, or in the same."""
    states[place] = source[index]


def local_copy(state: Any) -> Any:
    """Return a copy of a state on the stack frame of the caller.

    No other pointer to it exists, so the compiler can keep its fields in registers.
    """
    return copy.copy(state)


def shaped(state: Any, out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a row of numbers as an array of the shape in which the state's game observes."""
    shape: tuple[int, ...] = type(state)._game.facts.observation_shape
    return out.reshape(shape)


def pack_at(packs: Any, index: int) -> Any:
    """Return the pack at an index of a table of packs, in compiled code only."""
    raise NotImplementedError


def local_pack(pack: Any) -> Any:
    """Return a copy of a pack's table on the stack frame of the caller, where nothing else can change it."""
    return pack


def local_rng(word: int | np.uint64) -> Rng:
    """Return a generator that continues from `word`, on the stack frame of the caller."""
    return Rng.from_word(int(word))


def rng_word(rng: Rng) -> np.uint64:
    """Return the state of a generator, from which `local_rng` continues."""
    return np.uint64(rng.word)


# Memory that several threads share. Interpreted code has one thread.


def atomic_add(array: np.ndarray[Any, Any], index: Any, amount: Any) -> Any:
    """Add to an element of an array in one step that no other thread can divide; return what it was before.

    >>> numbers = np.array([3, 4])
    >>> int(atomic_add(numbers, 1, 2)), numbers.tolist()
    (4, [3, 6])
    """
    before = array[index]
    array[index] += amount
    return before


def atomic_add_field(records: np.ndarray[Any, Any], index: Any, field: str, amount: Any) -> None:
    """Add to a field of a record in one step that no other thread can divide."""
    records[field][index] += amount


def compare_and_swap(array: np.ndarray[Any, Any], index: Any, expected: Any, new: Any) -> bool:
    """Set an element to `new` if it is as expected, in one step; return whether it was.

    >>> numbers = np.array([3])
    >>> compare_and_swap(numbers, 0, 3, 5), compare_and_swap(numbers, 0, 3, 6), numbers.tolist()
    (True, False, [5])
    """
    if array[index] != expected:
        return False
    array[index] = new
    return True


def load_shared(array: np.ndarray[Any, Any], index: Any) -> Any:
    """Return an element that another thread may have written, with everything that it wrote before."""
    return array[index]


def store_shared(array: np.ndarray[Any, Any], index: Any, value: Any) -> None:
    """Write an element so that a thread that reads it sees everything that was written before."""
    array[index] = value


def publish() -> None:
    """Let what was written so far reach other threads before what is written next."""


def yield_thread() -> None:
    """Let another thread run, in a loop that waits for it."""
