"""The cache of compiled kernels on disk: never stale, and safe with many processes.

There is one folder for each (game, build digest), and one file a kernel. A file is written under another name and then
renamed, so a reader sees all of it or nothing; it contains the digest and a checksum, and both are compared after a
load. A lock for each folder makes a second process wait for the result of the first instead of compiling the same
kernel. See docs/compiled-games.md.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import platform
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from treetop.errors import SaveError
from treetop.files import replacing

_MAGIC = b"treetop kernel 2\n"
ADVICE = "set TREETOP_CACHE to a folder that can be written"
_LOCK_TIMEOUT = 600.0  # seconds; compiling takes about ten


def cache_folder() -> Path:
    """Return the folder of compiled kernels: `$TREETOP_CACHE`, else the user's cache folder, else a temporary one."""
    chosen = os.environ.get("TREETOP_CACHE")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME")
    if home:
        usual = Path(home) / "treetop"
    elif sys.platform == "darwin":
        usual = Path.home() / "Library" / "Caches" / "treetop"
    elif sys.platform == "win32":
        usual = Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "treetop" / "cache"
    else:
        usual = Path.home() / ".cache" / "treetop"
    if _writable(usual):
        return usual
    shared = Path(tempfile.gettempdir()) / f"treetop-{_user()}"
    return shared if _is_private(shared) else _folder_of_this_process()


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def _is_private(folder: Path) -> bool:
    """Return whether a folder belongs to this user alone; create it if there is none. Others could leave code in it."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        info = folder.lstat()
    except OSError:
        return False
    own = not hasattr(os, "getuid") or info.st_uid == os.getuid()
    return stat.S_ISDIR(info.st_mode) and own and not info.st_mode & 0o022


@functools.cache
def _folder_of_this_process() -> Path:
    """Return a new folder, for a process that has no other place for its code."""
    return Path(tempfile.mkdtemp(prefix="treetop-"))


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def build_digest(rules: str, kernel: str, *, bounds_checked: bool) -> str:
    """Return the digest of a kernel's code: of the rules, the kernel, this package, the versions and the processor."""
    text = repr((rules, kernel, bounds_checked, _sources_digest(), _machine()))
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _sources_digest() -> str:
    """Return a digest of this package's sources, which determine how everything is compiled."""
    content = hashlib.sha256()
    for file in sorted(Path(__file__).resolve().parent.glob("*.py")):
        content.update(f"{file.name}:".encode())
        content.update(hashlib.sha256(file.read_bytes()).digest())
    return content.hexdigest()


@functools.cache
def _machine() -> tuple[str, ...]:
    import llvmlite
    import llvmlite.binding
    import numba

    features = llvmlite.binding.get_host_cpu_features().flatten()
    return (
        platform.python_implementation(),
        platform.python_version(),
        np.__version__,
        numba.__version__,
        llvmlite.__version__,
        platform.system(),
        platform.machine(),
        llvmlite.binding.get_host_cpu_name(),
        features,
    )


def _provide(symbols: list[str], target_context: Any) -> None:
    """Make sure that machine code finds the functions outside of it that it calls.

    Numba's runtime has nearly all of them. Only for others is the whole of Numba initialised, which takes longer than
    most searches.
    """
    from llvmlite.binding import address_of_symbol
    from numba.core.runtime import rtsys

    rtsys.initialize(target_context)
    if not all(name.startswith("llvm.") or address_of_symbol(name) for name in symbols):
        target_context.refresh()


class KernelCache:
    """The file of one kernel of one (game, build digest)."""

    def __init__(self, game: str, build: str, kernel: str, signature: str) -> None:
        safe = "".join(letter if letter.isalnum() else "_" for letter in game)[:60]
        self._root = cache_folder()
        self._folder = self._root / f"{safe}-{build[:16]}"
        self._file = self._folder / f"{kernel}.kernel"
        self._header = _MAGIC + f"{game}\n{build}\n{kernel}\n{signature}\n".encode()

    @property
    def is_writable(self) -> bool:
        """Whether files can be saved."""
        return _writable(self._root)

    @property
    def note(self) -> str:
        """Where the code will be saved, for a notice while it is compiled."""
        if self.is_writable:
            return f"once on this machine, saved in {self._root}"
        return f"not saved: {self._root} cannot be written; {ADVICE}"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder's lock; do nothing if the folder cannot be written."""
        from filelock import FileLock

        try:
            self._root.mkdir(parents=True, exist_ok=True)
            lock = FileLock(str(self._folder) + ".lock", timeout=_LOCK_TIMEOUT)
            lock.acquire()
        except OSError:  # also a timeout: another process that hangs must not block this one; the files are safe anyway
            yield
            return
        try:
            yield
        finally:
            lock.release()

    def is_locked(self) -> bool:
        """Return whether another process, or another thread, holds the folder's lock."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(str(self._folder) + ".lock", timeout=0):
                return False
        except Timeout:
            return True
        except OSError:
            return False

    def load(self, target_context: Any) -> Any:
        """Return the kernel that an earlier process saved, as Numba's compile result, or None."""
        payload = self._read()
        if payload is None:
            return None
        from numba.core.compiler import CompileResult

        try:
            symbols, parts = pickle.loads(payload)
            _provide(symbols, target_context)
            return CompileResult._rebuild(target_context, *parts)
        except Exception:  # noqa: BLE001 - an unusable file is replaced by compiling again
            return None

    def _read(self) -> bytes | None:
        try:
            content = self._file.read_bytes()
        except OSError:
            return None
        size = len(self._header)
        if not content.startswith(self._header):
            return None
        checksum, payload = content[size : size + 32], content[size + 32 :]
        return payload if hashlib.sha256(payload).digest() == checksum else None

    def save(self, result: Any) -> str | None:
        """Save a kernel for the next process. Return None, or warn and return the reason if it cannot be saved."""
        if result.library.has_dynamic_globals:
            reason = (
                "a constant array of more than a megabyte is compiled in by address, so the code cannot be saved: "
                "this game will be compiled again in every process"
            )
        else:
            try:
                self._write(result)
                return None
            except (OSError, SaveError) as error:
                cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
                why = getattr(cause, "strerror", None) or cause
                reason = f"compiled code could not be saved in {self._root}: {why}; {ADVICE}"
        warnings.warn(reason, stacklevel=2)
        return reason

    def _write(self, result: Any) -> None:
        from numba.core.serialize import dumps

        functions = result.library._final_module.functions
        symbols = [function.name for function in functions if function.is_declaration]
        payload = bytes(dumps((symbols, result._reduce())))
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing(self._file) as file:
            file.write(self._header + hashlib.sha256(payload).digest() + payload)
