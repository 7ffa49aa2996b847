"""Other packages as problems, policies and games. Each is imported when one of its names is used, and not before.

>>> from treetop import adapters
>>> adapters.OpenSpielProblem("tic_tac_toe").num_players          # doctest: +SKIP
2
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "chess": ("ChessProblem",),
    "clones": ("RandomStepError",),
    "gymnasium": ("GymPolicy", "GymProblem", "GymState"),
    "openspiel": ("OpenSpielProblem", "TreetopBot"),
    "openspiel_games": ("TreetopGame", "TreetopState", "as_openspiel"),
    "pettingzoo": ("PettingZooPolicy", "PettingZooProblem", "PettingZooState"),
}
"""Each module and its public names."""

_WHERE = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"treetop.adapters.{name}")
    if name in _WHERE:
        return getattr(importlib.import_module(f"treetop.adapters.{_WHERE[name]}"), name)
    raise AttributeError(f"treetop.adapters has no {name!r}; there are {', '.join([*sorted(_MODULES), *__all__])}")


def __dir__() -> list[str]:
    return [*sorted(_MODULES), *__all__]
