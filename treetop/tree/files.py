"""Files: named arrays and a header of plain values, versioned, without pickle. A file is whole or it is refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SaveError
from treetop.files import replacing

_HEADER = "treetop"


def write(path: Path, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a file, whole or not at all."""
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **{_HEADER: text, **arrays})


def read(path: Path, kind: str, version: int) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The header and the arrays of a file, after its kind and version were found to be the right ones."""
    try:
        with path.open("rb") as opened:
            file = np.load(opened, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile) or _HEADER not in file:
                raise SaveError(f"{path} was not written by Treetop")
            header = json.loads(file[_HEADER].tobytes())
            arrays = {name: file[name] for name in file.files if name != _HEADER}
    except SaveError:
        raise
    except FileNotFoundError as error:
        raise SaveError(f"there is no file {path}") from error
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise SaveError(f"{path} is damaged, or was not written by Treetop: {error}") from error
    if not isinstance(header, dict) or header.get("kind") != kind:
        raise SaveError(f"{path} holds {header.get('kind', 'something else') if isinstance(header, dict) else 'something else'}, not {kind}")
    if header.get("version") != version:
        raise SaveError(f"{path} is of version {header.get('version')}; this Treetop reads version {version}")
    return header, arrays
