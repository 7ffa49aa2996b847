"""Check the arrays of a file before they are used: their names, shapes and types, and that they are finite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop import checks
from treetop.errors import SaveError

Shapes = Mapping[str, tuple[int, ...]]


def refuse_wrong_arrays(
    found: Mapping[str, npt.NDArray[Any]], shapes: Shapes, source: str, kinds: Mapping[str, Any] | None = None
) -> None:
    """Raise SaveError where arrays have other names, shapes or types, or are not finite.

    The type is float32, or that in `kinds`.

    >>> import numpy as np
    >>> refuse_wrong_arrays({"bias": np.zeros(3, np.float32)}, {"bias": (2,)}, "model.safetensors")
    Traceback (most recent call last):
    treetop.errors.SaveError: model.safetensors: the array bias is float32 (3,), not float32 (2,)
    """
    if sorted(found) != sorted(shapes):
        other = sorted(set(found) ^ set(shapes))
        raise SaveError(f"{source}: some arrays are missing or unknown: {checks.shorten(other)}")
    for name, shape in shapes.items():
        kind = np.dtype((kinds or {}).get(name, np.float32))
        if found[name].shape != shape or found[name].dtype != kind:
            raise SaveError(
                f"{source}: the array {name} is {found[name].dtype} {found[name].shape}, not {kind} {shape}"
            )
        if not np.isfinite(found[name]).all():
            raise SaveError(f"{source}: the array {name} is not finite")
