"""Texts of game files: their encodings, their sizes, and the places that errors name."""

from __future__ import annotations

import re
from pathlib import Path

from treetop.checks import shorten
from treetop.errors import SaveError
from treetop.files import read_bytes

MOST_BYTES = 100 * 2**20
"""The size of a file that is read, at most."""
MOST_ERRORS = 1000
"""The games of one file whose text cannot be read, at most: what follows them is not read."""
_ENCODINGS = {
    "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "latin1", "iso-8859-15",
    "windows-1251", "windows-1252", "cp1251", "cp1252", "koi8-r", "big5", "gb2312", "gbk", "gb18030", "euc-jp",
    "shift_jis", "shift-jis", "sjis", "euc-kr", "iso-2022-jp",
}  # fmt: skip
"""The encodings that a file may name. Python knows more, some of which are not of texts."""


def read_text(path: Path, *, charset: re.Pattern[bytes] | None = None) -> str:
    """Return the text of a game file: in the encoding that the file names, else UTF-8, else Latin-1, as the formats
    say. Raise SaveError for other encodings and for a file that is too large.

    `charset` finds the name of the encoding in the file.
    """
    size = path.stat().st_size if path.is_file() else 0
    if size > MOST_BYTES:
        raise SaveError(f"{path} is too large: {size:,} bytes, and at most {MOST_BYTES:,} are read: split it")
    content = read_bytes(path)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
        raise SaveError(f"{path} is not text in UTF-8 or Latin-1: it holds null bytes; save it as UTF-8")
    found = charset.search(content) if charset else None
    if found is not None:
        return _decoded(path, content, found[1].decode("latin-1").strip().lower())
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _decoded(path: Path, content: bytes, name: str) -> str:
    if name not in _ENCODINGS:
        raise SaveError(f"{path} names the encoding {shorten(name)}, which is not known: save it as UTF-8")
    try:
        return content.decode("utf-8-sig" if name in ("utf-8", "utf8") else name)
    except UnicodeError:
        raise SaveError(f"{path} names the encoding {name}, but it is not text in it: save it as UTF-8") from None
