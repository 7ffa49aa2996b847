"""The files of a run: arrays with plain values beside them, and lines that are appended."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from treetop.errors import ConfigError, SaveError
from treetop.evaluators.networks.arrays import refuse_wrong_arrays
from treetop.evaluators.networks.model import safetensors
from treetop.files import parse_json, read_bytes, replacing

HEADERS = ("run.json", "muzero.json")
"""The headers of a run of self-play, and of a run of MuZero: a folder has one of them."""
LOCK = "run.lock"
Arrays = dict[str, npt.NDArray[Any]]
_PART = re.compile(r"[a-z]+\.(json|safetensors|onnx|html|png)\.[0-9a-f]{8}\.part")  # of `replacing`


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Replace a file of safetensors at once."""
    laid_out = {name: np.array(array, order="C") for name, array in arrays.items()}
    content = safetensors().numpy.save(laid_out, {"about": json.dumps(about)})
    with replacing(path) as file:
        file.write(content)


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays of a file, and the plain values beside them; raise SaveError where it holds none."""
    if not path.exists():
        raise SaveError(f"there is no file {path}")
    try:
        with safetensors().safe_open(path, "np") as found:
            about = parse_json(found.metadata()["about"])
            return {name: found.get_tensor(name) for name in found.keys()}, about  # noqa: SIM118 - it is no mapping
    except Exception as error:  # noqa: BLE001 - of safetensors, of missing names
        raise SaveError(f"{path} is not a checkpoint: {error}") from None


def refuse_wrong_state(
    found: Arrays, own: Arrays, weights: Mapping[str, tuple[int, ...]], *, after: int, source: str
) -> None:
    """Raise SaveError where a checkpoint is not that of a learner after some steps.

    `own` is the state of a new learner; after the first step the optimiser has arrays for each of its `weights`, whose
    names and shapes are given.
    """
    shapes = {name: array.shape for name, array in own.items()}
    kinds = {name: array.dtype for name, array in own.items()}
    if after > 0:
        for name, shape in weights.items():
            prefix = f"optimiser.{name}."
            shapes |= {f"{prefix}step": (), f"{prefix}exp_avg": shape, f"{prefix}exp_avg_sq": shape}
    refuse_wrong_arrays(found, shapes, source, kinds)


def refuse_used(folder: Path) -> None:
    """Raise ConfigError if a folder holds a run already: the files of another one would replace its network."""
    for name in HEADERS:
        if (folder / name).exists():
            raise ConfigError(f"{folder} holds a training run already ({name}): continue it, or choose another folder")


@contextmanager
def owning(folder: Path) -> Iterator[None]:
    """Let nobody else write the run in a folder inside the block; raise SaveError where another process does.

    Files that a killed process has left incomplete are removed.
    """
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        with suppress(NotImplementedError):  # a file system without locks
            lock.acquire()
    except Timeout:
        raise SaveError(f"the run in {folder} is being trained by another process: wait until it has ended") from None
    except OSError as error:
        raise SaveError(f"{folder / LOCK} cannot be written: {error.strerror or error}") from error
    try:
        for path in (*folder.glob("*.part"), *folder.glob("candidate/*.part")):
            if _PART.fullmatch(path.name):
                path.unlink(missing_ok=True)
        yield
    finally:
        lock.release()


def write_json(path: Path, content: Any) -> None:
    """Replace a file of JSON at once."""
    with replacing(path) as file:
        file.write(json.dumps(content, indent=1).encode())


def read_header(path: Path, kind: str, version: int, fields: Mapping[str, type]) -> dict[str, Any]:
    """Return the header of a run; raise SaveError where the file holds something else."""
    try:
        header = parse_json(read_bytes(path))
    except SaveError:
        raise
    except ValueError as error:
        raise SaveError(f"{path} is not {kind}: {error}") from None
    if not isinstance(header, dict) or header.get("kind") != kind or header.get("version") != version:
        raise SaveError(f"{path} is not {kind} of this version of Treetop")
    for name, wanted in fields.items():
        if not isinstance(header.get(name), wanted):
            raise SaveError(f"{path} has no {name!r}, or a wrong one")
    return header


def append_line(path: Path, record: Mapping[str, Any]) -> None:
    """Append a line of JSON. What a crash has left of an incomplete line becomes a line of its own."""
    line = json.dumps(record).encode()
    try:
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read() == b"\n" else b"\n" + line
            file.write(line + b"\n")
    except OSError as error:
        raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error
