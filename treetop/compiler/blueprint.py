"""The input of the compiler for a class: its record, its functions, its constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A class of states, ready to be compiled. Blueprints with the same identity behave the same."""

    name: str
    digest: str
    dtype: np.dtype[Any]
    functions: Mapping[str, FunctionType]
    constants: Mapping[str, object]
    bounds_checked: bool = False
    observation_shape: tuple[int, ...] = ()
    """The shape of the array that the method `observe` fills; empty without that method."""
    dispatchers: dict[str, Any] = field(default_factory=dict, repr=False)
    """Numba's dispatchers of the functions, created on first use."""
    types: dict[str, Any] = field(default_factory=dict, repr=False)
    """Numba's types, created on first use."""

    @property
    def identity(self) -> tuple[str, str, bool]:
        """The key of the compiled class."""
        return (self.name, self.digest, self.bounds_checked)
