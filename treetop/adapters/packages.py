"""Packages that Treetop does without: loaded by the adapter that needs them, with a kind word where they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from treetop.errors import MissingExtraError


def load(module: str, extra: str) -> Any:
    """Import a package, or say which extra of Treetop brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"this adapter needs the package {package} ({error}): pip install 'treetop[{extra}]'"
        ) from error
