"""Shared by all tests: a compile cache of their own unless one is given, and small games written as a user would."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# Before anything of Treetop is imported: a cache that all workers of this run share, and the next run too.
os.environ.setdefault("TREETOP_CACHE", str(Path(tempfile.gettempdir()) / "treetop-tests"))
