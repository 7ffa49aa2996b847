"""What travels to other machines: pickled arguments, and the files that workers need. Nothing else.

Objects are pickled as for another process: functions and classes by the names of their modules. The source of a module
of one file travels with them, because the other machine may lack it. Packages must be installed there. What is defined
in the program itself, or in a notebook, has no module that can be imported elsewhere and is refused.
"""

from __future__ import annotations

import importlib.util
import io
import pickle
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any

from treetop.errors import ConfigError

_MOST_BYTES = 50_000_000


@dataclass(frozen=True)
class Luggage:
    """What workers on other machines need, beside their arguments."""

    references: tuple[str, ...] = ()
    """Your own games and functions, named as `module:name` or `folder/file.py:name`; other texts are ignored."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Further files by their paths, relative to the current folder of the worker."""


def pack(value: Any, what: str) -> tuple[bytes, set[str]]:
    """Return a value pickled for another machine, and the modules of the functions and classes in it.

    Raise ConfigError if it cannot be sent.
    """
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        pickler.dump(value)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"{what} cannot be sent to another machine: {type(error).__name__}: {error}") from error
    return buffer.getvalue(), pickler.modules


class _Pickler(pickle.Pickler):
    """Pickles functions and classes by name, and notes their modules."""

    def __init__(self, buffer: io.BytesIO, protocol: int) -> None:
        super().__init__(buffer, protocol)
        self.modules: set[str] = set()

    def reducer_override(self, value: Any) -> Any:
        """Note the module of a function or class. It is then pickled as usual."""
        if isinstance(value, (type, FunctionType)):
            _refuse_main(value.__module__, value.__qualname__)
            self.modules.add(value.__module__)
        return NotImplemented


def files_for(luggage: Luggage, modules: Iterable[str]) -> dict[str, bytes]:
    """Return the files of luggage, and the sources of its references and of modules, by their paths for the worker."""
    found = dict(luggage.files)
    for name in found:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ConfigError(f"the path of a file for other machines is relative to the worker's folder, not {name!r}")
    for reference in luggage.references:
        module, colon, name = reference.strip().partition("(")[0].rpartition(":")
        if colon:
            _refuse_main(module, name)
            found |= _file(module) if module.endswith(".py") else _source(module)
    for module in modules:
        found |= _source(module)
    size = sum(len(content) for content in found.values())
    if size > _MOST_BYTES:
        raise ConfigError(
            f"the files for other machines have {size:,} bytes, and at most {_MOST_BYTES:,} are sent: "
            "leave out what the workers do not need"
        )
    return found


def _file(path: str) -> dict[str, bytes]:
    """Return the content of a file that is named by its path. Workers find it by the same path."""
    if Path(path).is_absolute() or {"..", "~"} & set(Path(path).parts):
        raise ConfigError(
            f"{path}: another machine finds a file only by a path below the current folder: "
            "change to its folder, or name it as module:Name"
        )
    return {path: _read(Path(path))}


def _source(module: str) -> dict[str, bytes]:
    """Return the source of a module of one file; nothing for packages and for modules that are installed."""
    name = module.partition(".")[0]
    if name != module or name == "treetop" or name in sys.builtin_module_names:
        return {}
    spec = getattr(sys.modules[name], "__spec__", None) if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is not None or not (spec.origin or "").endswith(".py"):
        return {}
    file = Path(spec.origin or "").resolve()
    installed = [Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    return {} if any(file.is_relative_to(folder) for folder in installed) else {f"{name}.py": _read(file)}


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file} cannot be sent to other machines: {error.strerror or error}") from error


def _refuse_main(module: str | None, name: str) -> None:
    if module in ("__main__", "__mp_main__"):
        raise ConfigError(
            f"{name} is defined in the program itself or in a notebook (__main__), which other machines cannot import: "
            "put it in a module of its own, my_module.py, and name it as my_module:Name"
        )
