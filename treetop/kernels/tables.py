"""Roots and reciprocals of small visit counts, looked up instead of computed.

Selection needs them for every child at every level, most nodes have few visits, and a division and a square root cost
more than everything else in a score. The functions give the very same number on both sides of the table's end.
The index is unsigned, so that compiled code need not ask whether it counts from the end.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import inline_kernel

_SIZE = 4096  # 32 kB a table: the low end, which is used most, stays in the nearest cache

_INVERSE = np.array([math.inf] + [1.0 / n for n in range(1, _SIZE)])
_INVERSE_ROOT = np.array([math.inf] + [1.0 / math.sqrt(n) for n in range(1, _SIZE)])
_LOG = np.array([0.0] + [math.log(n) for n in range(1, _SIZE)])
_ROOT_LOG = np.array([0.0] + [math.sqrt(math.log(n)) for n in range(1, _SIZE)])


@inline_kernel
def inverse(n: Any) -> float:
    """1 / n."""
    if n < _SIZE:
        return float(_INVERSE[np.uint64(n)])
    return float(1.0 / n)


@inline_kernel
def inverse_root(n: Any) -> float:
    """1 / sqrt(n)."""
    if n < _SIZE:
        return float(_INVERSE_ROOT[np.uint64(n)])
    return 1.0 / math.sqrt(n)


@inline_kernel
def log(n: Any) -> float:
    """ln(n)."""
    if n < _SIZE:
        return float(_LOG[np.uint64(n)])
    return math.log(n)


@inline_kernel
def root_log(n: Any) -> float:
    """sqrt(ln(n))."""
    if n < _SIZE:
        return float(_ROOT_LOG[np.uint64(n)])
    return math.sqrt(math.log(n))
