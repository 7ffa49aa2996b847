"""Parse names with options: `hex(size=7)`, `rollout(policy='mast')`. The text is parsed, never evaluated."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from typing import Any

from treetop.checks import shorten
from treetop.errors import ConfigError

LONGEST = 10_000
"""The number of characters of the longest text that is parsed."""
_LARGEST = 2**64


@dataclass(frozen=True)
class Call:
    """A name and the arguments between its brackets."""

    name: str
    positional: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def parse_call(text: str, *, nested: bool = False) -> Call:
    """Parse a name with options that are Python literals.

    With `nested`, a name or a call between the brackets is kept as its text.

    >>> parse_call("hex(size=7)")
    Call(name='hex', positional=(), options={'size': 7})
    """
    if len(text) > LONGEST:
        raise ConfigError(f"{shorten(text)} has {len(text):,} characters; at most {LONGEST:,} are parsed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about escapes such as '\\d' do not apply: this is not a program
            tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return Call(tree.id)
        if (
            isinstance(tree, ast.Call)
            and isinstance(tree.func, ast.Name)
            and all(keyword.arg for keyword in tree.keywords)
        ):
            options = {str(keyword.arg): _value(keyword.value, nested) for keyword in tree.keywords}
            if len(options) < len(tree.keywords):
                raise ConfigError(f"{shorten(text)} gives an option twice")
            return Call(tree.func.id, tuple(_value(value, nested) for value in tree.args), options)
    except ConfigError:
        raise
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # the last two: brackets nested too deep
        pass
    raise ConfigError(f"{shorten(text)} is neither a name nor a name with options such as hex(size=7)")


def _value(tree: ast.expr, nested: bool) -> Any:
    for part in ast.walk(tree):
        if isinstance(part, ast.Constant) and isinstance(part.value, int) and part.value >= _LARGEST:
            raise ConfigError(f"a number in the options is too large: whole numbers are below {_LARGEST:,}")
    if nested and isinstance(tree, (ast.Name, ast.Call)):
        return ast.unparse(tree)
    return ast.literal_eval(tree)
