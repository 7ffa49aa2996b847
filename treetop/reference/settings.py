"""The settings of the plain search: options by their flat names, as attributes."""

from __future__ import annotations

from typing import Any


class Settings:
    """All options of a search, as `SearchConfig.options` returns them, and the options of its evaluator.

    The name of a slot is the name of its part: `settings.rule` is "puct", or the user's own function. Nothing is
    checked.
    """

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the plain search has no option {name!r}: pass it to Settings")
