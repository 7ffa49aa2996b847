"""The parameters of a family of games, with the ranges that its checks allow, for the controls of a page."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import textwrap
from typing import Any

from treetop.game.families import Family
from treetop.game.registry import BUNDLED

_KINDS = {bool: "flag", int: "whole", float: "number", str: "text"}


def parameters_of(family: Family[...]) -> list[dict[str, Any]]:
    """Return each plain parameter: its name, kind and default, and the range or the choices where its check says them.

    A bound that is another parameter has the default of that one.

    >>> from treetop.games.gomoku import gomoku
    >>> parameters_of(gomoku)[0]
    {'name': 'size', 'kind': 'whole', 'default': 15, 'low': 3, 'high': 19}
    """
    defaults = {name: one.default for name, one in family.signature.parameters.items()}
    known = _checked(family, defaults)
    return [
        {"name": name, "kind": _KINDS[type(default)], "default": default, **known.get(name, {})}
        for name, default in defaults.items()
        if type(default) in _KINDS
    ]


@functools.cache
def parameters_of_bundled(name: str) -> tuple[dict[str, Any], ...]:
    """Return the parameters of a bundled game; none where it has one form only.

    >>> [one["name"] for one in parameters_of_bundled("hex")], parameters_of_bundled("tic_tac_toe")
    (['size'], ())
    """
    found = getattr(importlib.import_module(BUNDLED[name]), name)
    return tuple(parameters_of(found)) if isinstance(found, Family) else ()


def _checked(family: Family[...], defaults: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the ranges and choices in the calls `checks.whole("size", size, 3, 19)` of the family's function."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(family.function)))
    except (OSError, TypeError, SyntaxError):  # without its source: a game that was typed into a prompt
        return {}
    found = dict[str, dict[str, Any]]()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        values = [_value(one, defaults) for one in call.args]
        named = {one.arg: _value(one.value, defaults) for one in call.keywords}
        if call.func.attr in ("whole", "number") and values and values[0] in defaults:
            low, high = (*values[2:4], None, None)[:2]
            bounds = {"low": named.get("low", low), "high": named.get("high", high)}
            found[values[0]] = {name: value for name, value in bounds.items() if value is not None}
        elif call.func.attr == "one_of" and len(values) > 2 and values[0] in defaults and values[2]:
            found[values[0]] = {"choices": list(values[2])}
    return found


def _value(node: ast.expr, defaults: dict[str, Any]) -> Any:
    """Return the value of a constant, or the default of a parameter; None for everything else."""
    if isinstance(node, ast.Name):
        return defaults.get(node.id)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
