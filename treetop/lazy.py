"""Packages whose public names are imported on first use, and packages that can be called."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def exports(
    package: str, modules: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package that loads a module when one of its names is used.

    `modules` maps each module, relative to the package, to its public names in one text. Modules themselves are
    attributes too.
    """
    homes = {name: f"{package}.{module}" for module, names in modules.items() for name in names.split()}
    public = sorted(homes)

    def get(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"{package} has no {name!r}; it has {', '.join(public)}")

    return public, get, lambda: public


def make_callable(package: str, module: str, function: str) -> None:
    """Make a package callable as one of its functions: `treetop.search(...)` and `import treetop.search.root` work."""

    class CallablePackage(ModuleType):
        def __call__(self, *args: Any, **options: Any) -> Any:
            return getattr(importlib.import_module(module), function)(*args, **options)

        @property
        def __signature__(self) -> inspect.Signature:
            return inspect.signature(getattr(importlib.import_module(module), function))

        def __reduce__(self) -> tuple[Any, tuple[str]]:
            """Pickle by name, as the function would be."""
            return importlib.import_module, (package,)

    sys.modules[package].__class__ = CallablePackage
