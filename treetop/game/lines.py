"""Find the line of the user's code that an error comes from."""

from __future__ import annotations

import functools
import linecache
import sys
import traceback
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_GAMES = _PACKAGE / "games"


def users_line(error: BaseException | None) -> str:
    """Return the innermost line of the user's code in a traceback: `my_game.py, line 12: self.n = 300`; empty if none.

    Frames of Treetop, of Python's library and of installed packages are skipped, unless there are no others.
    """
    if error is None:
        return ""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return _format(error.filename, error.lineno, error.text)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_ours(frame.filename)]
    own = [frame for frame in frames if not _is_library(frame.filename)] or frames
    if own:
        return _format(own[-1].filename, own[-1].lineno or 0, own[-1].line)
    return users_line(error.__cause__)


def callers_line() -> str:
    """Return the innermost line of the user's code that is being executed."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return _format(
        frame.f_code.co_filename, frame.f_lineno, linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    )


def is_ours(name: str) -> bool:
    """Return whether a file belongs to Treetop itself; bundled games are treated like a user's games."""
    file = _resolved(name)
    return name.startswith("<frozen ") or (file.is_relative_to(_PACKAGE) and not file.is_relative_to(_GAMES))


def _is_library(name: str) -> bool:
    return any(_resolved(name).is_relative_to(folder) for folder in _libraries())


@functools.cache
def _libraries() -> tuple[Path, ...]:
    import sysconfig  # imported only after a failure: it is slow

    return tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@functools.lru_cache(maxsize=1000)
def _resolved(name: str) -> Path:
    return Path(name).resolve()


def _format(file: str, line: int, source: str | None) -> str:
    return f"{file}, line {line}" + (f": {source.strip()}" if source and source.strip() else "")
