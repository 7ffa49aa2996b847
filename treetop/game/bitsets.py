"""Sets of more than 64 members, as arrays of words: member n is bit n % 64 of word n // 64.

They serve games with large boards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import lowest_bit, nth_bit, popcount

_NONE, _ONE = np.uint64(0), np.uint64(1)


@compiled(inline=True)
def list_bits(words: Any, out: Any) -> int:
    """Write all members to `out`, in increasing order, and return how many there are.

    >>> import numpy as np
    >>> words, out = np.array([0b1011, 0b1], np.uint64), np.zeros(8, np.int64)
    >>> out[: list_bits(words, out)].tolist()
    [0, 1, 3, 64]
    """
    count = 0
    for word in range(len(words)):
        rest = words[word]
        while rest != _NONE:
            out[count] = 64 * word + lowest_bit(rest)
            rest &= rest - _ONE
            count += 1
    return count


@compiled(inline=True)
def random_bit(words: Any, count: int, rng: Any) -> int:
    """Return a random member of a set with `count` members, drawn uniformly.

    >>> import numpy as np, treetop as tt
    >>> random_bit(np.array([0b1011, 0b1], np.uint64), 4, tt.Rng(1)) in (0, 1, 3, 64)
    True
    """
    index = rng.below(count)
    before, chosen, counted = 0, 0, 0
    for word in range(1, len(words)):  # no early exit: the branch predictor could not predict it
        counted += popcount(words[word - 1])
        if index >= counted:
            before, chosen = counted, word
    return 64 * chosen + nth_bit(words[chosen], index - before)
