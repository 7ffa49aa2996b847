"""Files with named arrays and a header of plain values, versioned, without pickle. Damaged files are refused."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SaveError
from treetop.files import parse_json, read_bytes, replacing

_HEADER = "treetop"
_ENCRYPTED = 1  # a flag of zip files


def write(path: Path, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a file atomically."""
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **{_HEADER: text, **arrays})


def read(path: Path, kind: str, version: int) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return the header and the arrays of a file, after checking its kind and version."""
    content = read_bytes(path)
    try:
        arrays = _unpack(content)
        if _HEADER not in arrays:
            raise SaveError("it has no header")
        header = parse_json(arrays.pop(_HEADER).tobytes(), infinite=True)
    except Exception as error:  # zipfile, NumPy and tokenize raise many kinds of errors for damaged files
        what = str(error) if isinstance(error, SaveError) else f"{type(error).__name__} while its parts were read"
        raise SaveError(f"{path} is damaged, or was not written by Treetop: {what}") from error
    if not isinstance(header, dict) or header.get("kind") != kind:
        found = header.get("kind", "something else") if isinstance(header, dict) else "something else"
        raise SaveError(f"{path} holds {found}, not {kind}")
    if header.get("version") != version:
        raise SaveError(f"{path} has version {header.get('version')}; this Treetop reads version {version}")
    return header, arrays


def _unpack(content: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a zip file. They take no more memory than the file: members may not be compressed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > len(content):
            raise SaveError("its parts are larger than the file")
        arrays: dict[str, npt.NDArray[Any]] = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & _ENCRYPTED or name in arrays:
                raise SaveError(f"its part {name!r} is compressed, encrypted or duplicated")
            arrays[name] = _array(name, archive.read(member))
    return arrays


def _array(name: str, content: bytes) -> npt.NDArray[Any]:
    """Return the array of a .npy file, which must consist of plain numbers and have the length that its header says."""
    file = io.BytesIO(content)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[
        np.lib.format.read_magic(file)
    ]
    shape, by_columns, dtype = read_header(file)
    data = content[file.tell() :]
    if (
        dtype.hasobject
        or not dtype.itemsize
        or min(shape, default=1) < 0
        or math.prod(shape) * dtype.itemsize != len(data)
    ):
        raise SaveError(
            f"its part {name!r} has {len(data):,} bytes, which is not the size of an array of {dtype} of shape {shape}"
        )
    return np.ndarray(shape, dtype, data, order="F" if by_columns else "C")
