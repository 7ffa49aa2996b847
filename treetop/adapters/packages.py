"""Import optional packages, with an error that says how to install them."""

from __future__ import annotations

import importlib
from typing import Any

from treetop.errors import MissingExtraError


def load(module: str, extra: str) -> Any:
    """Import a package, or raise an error that names the extra of Treetop that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(f"this adapter needs the package {package} ({error})", extra=extra) from error
