"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from treetop.errors import SaveError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write beside a file and move it in place at the end: a crash leaves the old file or the new one, nothing between."""
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.replace(path)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error
        raise
