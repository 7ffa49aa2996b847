"""The search as an object: limits, settings, evaluators, results, explanations, reports, files.

`treetop.search` is this package and can be called: `treetop.search("connect_four", simulations=1000)` is `treetop.search.search.search`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """A package that is also the function of its name: both `treetop.search(...)` and `import treetop.search.root` work."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        from treetop.search.search import search

        return search(*args, **options)

    @property
    def __signature__(self) -> Any:
        import inspect

        from treetop.search.search import search

        return inspect.signature(search)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Pickle by name, as the function would be."""
        import importlib

        return importlib.import_module, (__name__,)


sys.modules[__name__].__class__ = _CallablePackage
