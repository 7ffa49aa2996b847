"""The settings of the plain search: the options of a search's parts, by their flat names. It shares the options with the compiled search, and no rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from treetop.kernels.backups import BACKUPS
from treetop.kernels.chance import CHANCE_MODES
from treetop.kernels.information import INFORMATION
from treetop.kernels.parts import Part
from treetop.kernels.roots import ROOTS
from treetop.kernels.rules import RULES
from treetop.kernels.rules.own import OwnRule


class Settings:
    """All options of some parts as attributes, with the defaults of the parts that were not chosen.

    The name of a slot is the name of its part: `settings.rule` is "puct", or the function of the user's own rule. `evaluation` adds what
    the evaluator is asked for, and everything else that is not an option of a part.
    """

    def __init__(self, parts: Iterable[Part], **evaluation: Any) -> None:
        chosen = list(parts)
        for one in (*RULES, *BACKUPS, *ROOTS, *CHANCE_MODES, *INFORMATION):
            if one is not OwnRule:
                self._take(one())
        for part in chosen:
            self._take(part)
            setattr(self, part.slot, part.compiled if isinstance(part, OwnRule) else part.name)
        for part in chosen:  # a slot and an option may have the same name: the option is what the search reads
            if part.slot in ("noise", "widening"):
                self._take(part)
        if self.backup == "max":
            self.minimax_share = 1.0
        self.schedule: str = getattr(chosen[0], "schedule", "constant")
        for name, value in evaluation.items():
            setattr(self, name, value)

    def _take(self, part: Part) -> None:
        for flat, (name, _) in part.options().items():
            setattr(self, flat, getattr(part, name))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no part has an option {name!r}")
