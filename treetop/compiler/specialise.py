"""Functions that are chosen at compile time by the methods of a game."""

from __future__ import annotations

from typing import Any

from treetop.compiler.functions import CompiledFunction


class ByMethod:
    """Two functions of a state under one name: one for games with a certain method, one for the others."""

    def __init__(self, method: str, yes: CompiledFunction[..., Any], no: CompiledFunction[..., Any]) -> None:
        self.method, self.yes, self.no = method, yes, no

    def __call__(self, state: Any, *args: Any) -> Any:
        """Call the plain function for this state's game."""
        return self.choose(hasattr(type(state), self.method))(state, *args)

    def choose(self, has: bool) -> CompiledFunction[..., Any]:
        """Return the function for a game with or without the method."""
        return self.yes if has else self.no


def by_method(method: str, *, yes: CompiledFunction[..., Any], no: CompiledFunction[..., Any]) -> ByMethod:
    """Return a function whose first argument is a state, chosen by whether its game has `method`."""
    return ByMethod(method, yes, no)
