"""A result as a widget of a notebook, by anywidget; without a notebook, in the browser."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

from treetop.errors import MissingExtraError
from treetop.search.result import SearchResult
from treetop.show.page import module_text, page_of, snapshot_text


def show(result: SearchResult) -> Any:
    """Return the widget of a result in a notebook; elsewhere open its page in the browser, and return the path."""
    if in_notebook():
        return widget_of(result)
    handle, name = tempfile.mkstemp(prefix="treetop-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(page_of(result))
    path = Path(name)
    webbrowser.open(path.as_uri())
    return path


def in_notebook() -> bool:
    """Return whether this code runs in the kernel of a notebook: Jupyter, VS Code, Colab.

    >>> in_notebook()
    False
    """
    # Not imported here: where IPython runs, it is loaded.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def widget_of(result: SearchResult) -> Any:
    """Return the widget of a result; raise MissingExtraError without anywidget."""
    return _widget_class()(snapshot=snapshot_text(result))


@functools.cache
def _widget_class() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise MissingExtraError("widgets in notebooks need anywidget", extra="notebook") from error

    class ResultWidget(anywidget.AnyWidget):
        """The position, the moves and the tree of a search."""

        _esm = module_text()
        snapshot = traitlets.Unicode("{}").tag(sync=True)

    return ResultWidget
