"""The positions of a run: all of them in files that grow game by game, the newest in memory to train on.

A file is a sequence of frames. A frame has four numbers of 32 bits (positions, bytes, CRC-32 of the bytes, CRC-32 of
these three numbers) and the positions of some finished games, compressed by zlib. What a crash has cut off at the end
is dropped.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from treetop.errors import SaveError
from treetop.files import read_bytes
from treetop.game.definition import Game
from treetop.train.samples import Samples, most_row

_FILE = re.compile(r"(\d{6})\.games")
_HEAD, _CHECK = struct.Struct("<III"), struct.Struct("<I")
_MOST_BYTES = 2**28  # of a frame, expanded


class Replay:
    """The positions of a run, in a window that grows with the root of their number.

    >>> import pathlib, tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replay = Replay(pathlib.Path(folder), tt.load_game("tic_tac_toe"), 1, 1000)
    ...     replay.total, replay.window
    (0, 1000)
    """

    def __init__(self, folder: Path, game: Game, values: int, least: int) -> None:
        self._folder, self._game, self._values, self._least = folder, game, values, least
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SaveError(f"the folder {folder} cannot be made: {error.strerror}") from error
        self._load()

    def _load(self) -> None:
        self._chunks: list[Samples] = []
        self._joined: tuple[Samples, npt.NDArray[np.float64]] | None = None
        self._number = max((int(path.stem) for path in self.files()), default=-1) + 1
        self.total = 0
        """Positions that were ever added."""
        for path in self.files():
            if found := list(self._read(path)):
                self._keep(Samples.joined(found))

    def files(self) -> list[Path]:
        """Return all files, in their order."""
        return sorted(path for path in self._folder.iterdir() if _FILE.fullmatch(path.name))

    def _read(self, path: Path) -> Iterator[Samples]:
        """Yield the frames of a file; raise SaveError where one is damaged, not only cut off."""
        content, start = read_bytes(path), 0
        while start + _HEAD.size + _CHECK.size <= len(content):
            head = content[start : start + _HEAD.size]
            count, size, check = _HEAD.unpack(head)
            start += _HEAD.size + _CHECK.size
            packed = content[start : start + size]
            try:
                if content[start - _CHECK.size : start] != _CHECK.pack(zlib.crc32(head)):
                    raise ValueError("the checksum of a frame's head is wrong")
                if len(packed) < size:
                    return  # a crash has cut it off
                yield self._unpacked(packed, count, check)
            except (ValueError, zlib.error) as error:
                raise SaveError(f"{path} holds no positions of {self._game.name}: {error}") from None
            start += size

    def _unpacked(self, packed: bytes, count: int, check: int) -> Samples:
        most = count * most_row(self._game, self._values)
        if zlib.crc32(packed) != check:
            raise ValueError("the checksum of a frame is wrong")
        if most > _MOST_BYTES:
            raise ValueError(f"a frame claims to hold {count:,} positions")
        content = zlib.decompressobj().decompress(packed, most + 1)
        return Samples.from_bytes(content, count, self._game, self._values)

    @property
    def window(self) -> int:
        """How many of the newest positions are trained on."""
        return int(max(self._least, (self._least * self.total) ** 0.5 * 2.0))

    def __len__(self) -> int:
        return sum(map(len, self._chunks))

    def write(self, samples: Samples) -> None:
        """Append the positions of finished games to the file of this iteration; `keep` lets them be trained on."""
        most = max(1, _MOST_BYTES // most_row(self._game, self._values))
        for first in range(0, len(samples), most):
            self._append(samples.rows(slice(first, first + most)))

    def _append(self, samples: Samples) -> None:
        """Append one frame."""
        path = self._folder / f"{self._number:06d}.games"
        packed = zlib.compress(samples.to_bytes(), 1)
        head = _HEAD.pack(len(samples), len(packed), zlib.crc32(packed))
        frame = head + _CHECK.pack(zlib.crc32(head)) + packed
        try:
            with path.open("ab", buffering=0) as file:
                before = file.tell()
                try:
                    if file.write(frame) != len(frame):
                        raise OSError(28, os.strerror(28))  # the disk is full
                except OSError:
                    file.truncate(before)
                    raise
        except OSError as error:
            raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error

    def keep(self, samples: Samples) -> None:
        """Train on these positions from now on; the next ones belong to another file."""
        self._keep(samples)
        self._number += 1

    def drop_after(self, total: int) -> None:
        """Remove the files whose positions came after the first `total`."""
        if self.total > total:
            for path in reversed(self.files()):
                if self.total > total:
                    self.total -= sum(map(len, self._read(path)))
                    path.unlink()
            self._load()  # the window was moved on by what is gone

    def _keep(self, samples: Samples) -> None:
        self._chunks.append(samples)
        self.total += len(samples)
        while len(self) - len(self._chunks[0]) >= self.window:
            self._chunks.pop(0)
        self._joined = None

    def draw(self, rng: np.random.Generator, size: int) -> Samples:
        """Return positions of the window, drawn at random by their weights."""
        samples, bounds = self._window()
        chosen = np.searchsorted(bounds, rng.random(size) * bounds[-1], side="right")
        return samples.rows(np.minimum(chosen, len(samples) - 1))

    def value_scale(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the mean and the standard deviation of the values in the window; the latter is positive."""
        values = self._window()[0].values.astype(np.float64)
        return values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)

    def _window(self) -> tuple[Samples, npt.NDArray[np.float64]]:
        """Return the positions of the window and the sums of their weights."""
        if self._joined is None:
            joined = Samples.joined(self._chunks)
            self._joined = joined, np.cumsum(joined.weights, dtype=np.float64)
        return self._joined

    def digest(self) -> str:
        """Return a digest of all positions on disk."""
        found = hashlib.sha256()
        for path in self.files():
            for samples in self._read(path):
                found.update(samples.digest().encode())
        return found.hexdigest()
