"""An extension of Griffe, which reads docstrings for the site: doctests become blocks of code.

Markdown would read the `>>>` of a doctest as quotations.
"""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """Return a docstring with a fence around each doctest."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        starts = line.lstrip().startswith(">>>")
        if starts and not inside:
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines += ["```"]
            inside = False
        lines.append(line.split("  # doctest:")[0].rstrip() if inside else line)
    return "\n".join([*lines, "```"] if inside else lines)


class FenceExamples(griffe.Extension):
    """Put a fence around the doctests of all docstrings."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring is not None and "```pycon" not in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Change the docstring of the package itself, which is no object of another."""
        self.on_object(obj=pkg)
