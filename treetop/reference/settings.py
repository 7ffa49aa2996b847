"""The settings of the plain search: options by their flat names, as attributes."""

from __future__ import annotations

from typing import Any


class Settings:
    """All options of a search, as `SearchConfig.options` gives them, and what its evaluator is asked for.

    The name of a slot is the name of its part: `settings.rule` is "puct", or the user's own function. Nothing is checked here: it is for tests,
    and for reading.
    """

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the plain search was not given the option {name!r}")
