"""The actor of a Ray worker: it checks the machine, starts a process there, and passes requests and answers on.

This module imports the standard library only. Ray sends it by value, so that it also runs on a machine without Treetop,
or with another version, and can say so.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import shutil
import socket
import sys
import tempfile
import types
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any


class Relay:
    """A process on a machine of the cluster, and the line to it. The process is the same as that of a local worker.

    The actor itself only passes bytes on. So a process that dies is the doing of its unit, and an actor that dies was
    lost with its machine.
    """

    def open(self, order: dict[str, Any]) -> dict[str, str | None]:
        """Start the process, and return the name of the machine and what is wrong with it, if anything is."""
        host = socket.gethostname()
        problem = wrong_here(order["version"], order["digest"])
        if problem is None:
            self._folder = _unpack(order["files"])
            self._worker = _start(order["first"])
        return {"host": host, "problem": problem and f"the machine {host} {problem}"}

    def send(self, request: bytes) -> None:
        """Pass a request on to the process."""
        self._worker.forward(request)

    def receive(self) -> bytes | str:
        """Wait for the next message of the process and return it, or how the process ended."""
        wait(list(self._worker.signs))
        received: bytes | str = self._worker.receive_bytes()
        return received

    def end(self, patience: float) -> None:
        """End the process and everything it started, and remove its files."""
        self._worker.end(patience)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def wrong_here(version: str, digest: str) -> str | None:
    """Return how the Treetop of this machine differs from one with this version and digest, or None."""
    try:
        treetop = importlib.import_module("treetop")
    except ImportError as error:
        return (
            f"has no Treetop that can be imported ({type(error).__name__}: {error}; Python "
            f"{platform.python_version()} at {sys.executable}): install version {version} there"
        )
    here = getattr(treetop, "__version__", "unknown")
    if here != version:
        return f"has Treetop {here}, and this one {version}: install the same version on both"
    if sources_digest(treetop) != digest:
        return f"has other sources of Treetop {here} than this one: install the same on both"
    return None


def sources_digest(package: types.ModuleType) -> str:
    """Return a digest of the source files of a package."""
    folder = Path(str(package.__file__)).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py"), key=lambda file: file.relative_to(folder).as_posix()):
        digest.update(f"{file.relative_to(folder).as_posix()}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _unpack(files: dict[str, bytes]) -> str | None:
    """Write files to a new folder, which becomes the current one and the first of the import path."""
    if not files:
        return None
    folder = tempfile.mkdtemp(prefix="treetop-")
    for name, content in files.items():
        file = Path(folder, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    os.chdir(folder)
    sys.path.insert(0, folder)
    return folder


def _start(first: bytes) -> Any:
    """Start the process, without the main module of this one: that is Ray's, which it would import again."""
    from treetop.workers.processes import ProcessWorker

    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        return ProcessWorker("", first)
    finally:
        sys.modules["__main__"] = main
