"""Names with options, as people write them: `hex(size=7)`, `rollout(policy='mast')`. Nothing of such a text is ever executed."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from treetop.errors import ConfigError


@dataclass(frozen=True)
class Call:
    """A name and what stands between its brackets."""

    name: str
    positional: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def parse_call(text: str, *, nested: bool = False) -> Call:
    """Read a name with options that are Python literals. With `nested` a name or a call between the brackets is kept as its text.

    >>> parse_call("hex(size=7)")
    Call(name='hex', positional=(), options={'size': 7})
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return Call(tree.id)
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and all(keyword.arg for keyword in tree.keywords):
            options = {str(keyword.arg): _value(keyword.value, nested) for keyword in tree.keywords}
            if len(options) < len(tree.keywords):
                raise ConfigError(f"{text!r} gives an option twice")
            return Call(tree.func.id, tuple(_value(value, nested) for value in tree.args), options)
    except (SyntaxError, ValueError):
        pass
    raise ConfigError(f"{text!r} is not a name, nor a name with options such as hex(size=7)")


def _value(tree: ast.expr, nested: bool) -> Any:
    if nested and isinstance(tree, (ast.Name, ast.Call)):
        return ast.unparse(tree)
    return ast.literal_eval(tree)
