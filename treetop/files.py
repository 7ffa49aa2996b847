"""Write files completely or not at all, and read files from untrusted sources."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from treetop.errors import SaveError

_DIGITS = 100  # digits of a whole number in JSON: more than any number of ours has, and few enough for a float


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write to a temporary file and move it in place at the end, so that a crash leaves the old file or the new one.

    A link is followed. Raise SaveError for a device or a pipe: it would be replaced by a file.
    """
    temporary: Path | None = None
    try:
        if path.exists() and not path.is_file():
            raise SaveError(f"{path} cannot be written: it is not an ordinary file")
        target = Path(os.path.realpath(path))
        place = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
        with place.open("xb") as file:  # with the permissions that other new files have
            temporary = place
            yield file
        temporary.replace(target)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error
        raise


def read_bytes(path: Path) -> bytes:
    """Read a whole file. Raise SaveError if it does not exist, or is a folder, a device or a pipe."""
    try:
        if not path.exists():
            raise SaveError(f"there is no file {path}")
        if not path.is_file():
            raise SaveError(f"{path} cannot be read: it is not an ordinary file")
        return path.read_bytes()
    except (OSError, ValueError, MemoryError) as error:  # ValueError: a name that holds a null byte
        if isinstance(error, SaveError):
            raise
        reason = getattr(error, "strerror", None) or str(error) or "there is not enough memory"
        raise SaveError(f"{path} cannot be read: {reason}") from error


def parse_json(content: bytes | str, *, infinite: bool = False) -> Any:
    """Parse JSON from an untrusted source. Raise ValueError if it is not JSON, or is ambiguous or dangerous.

    Refused are names that occur twice in one object, numbers that are too large, text that is not UTF-8, values nested
    too deeply, NaN and, without `infinite`, infinities.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    ValueError: 'a' occurs twice
    """

    def number(text: str) -> float:
        value = float(text)
        if math.isnan(value) or (math.isinf(value) and not infinite):
            raise ValueError(f"{text[:20]} is not allowed as a number here")
        return value

    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        text.encode("utf-8")
        parsed = json.loads(
            text, parse_int=_whole, parse_float=number, parse_constant=number, object_pairs_hook=_object
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeError as error:
        raise ValueError(f"it is not UTF-8: {error.reason}") from None  # type: ignore[attr-defined]
    return parsed


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"a whole number has {len(text):,} digits")
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} occurs twice")
    return found
