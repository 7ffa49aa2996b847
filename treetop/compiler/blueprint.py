"""What the compiler needs to know of a class: its record, its functions, its constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A class of states, ready to be compiled. Two with the same identity behave the same."""

    name: str
    digest: str
    dtype: np.dtype[Any]
    functions: Mapping[str, FunctionType]
    constants: Mapping[str, object]
    bounds_checked: bool = False
    dispatchers: dict[str, Any] = field(default_factory=dict, repr=False)
    """Numba's dispatchers of the functions, made on first use."""
    types: dict[str, Any] = field(default_factory=dict, repr=False)
    """Numba's types, made on first use."""

    @property
    def identity(self) -> tuple[str, str, bool]:
        """What tells one compiled class from another."""
        return (self.name, self.digest, self.bounds_checked)
