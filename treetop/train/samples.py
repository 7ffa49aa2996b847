"""Positions of self-play with their targets: in memory, on disk, and drawn as batches for training."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SaveError
from treetop.files import read_bytes, replacing
from treetop.game.definition import Game
from treetop.search.states import legal_mask, observations, transformed

Floats = npt.NDArray[np.float32]
_FILE = re.compile(r"(\d{6})\.npz")


@dataclass(frozen=True)
class Samples:
    """Positions of finished games, in the order in which they were played: arrays with a row for each.

    >>> import numpy as np, treetop as tt
    >>> rows = np.ones((1, 9), np.float32) / 9, np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32)
    >>> len(Samples(tt.position("tic_tac_toe").record, *rows))
    1
    """

    states: npt.NDArray[Any]
    """Records of the game."""
    policies: Floats
    """The improved policy of the search: (positions, actions)."""
    outcomes: Floats
    """The returns of the game from here on, from -1 to 1, of the player to move first: (positions, values)."""
    estimates: Floats
    """The values that the search found, in the same form."""

    def __len__(self) -> int:
        return len(self.states)

    def rows(self, chosen: Any) -> Samples:
        """Return some of the positions."""
        return Samples(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def digest(self) -> str:
        """Return a digest of all numbers."""
        found = hashlib.sha256()
        for field in fields(self):
            found.update(np.ascontiguousarray(getattr(self, field.name)).tobytes())
        return found.hexdigest()

    @staticmethod
    def joined(parts: Sequence[Samples]) -> Samples:
        """Return the positions of several sets, one after the other."""
        names = [field.name for field in fields(Samples)]
        return Samples(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def to_bytes(self) -> bytes:
        """Return the content of a file: NumPy's own format, records as bytes."""
        content = io.BytesIO()
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        size = self.states.dtype.itemsize
        arrays["states"] = np.ascontiguousarray(self.states).view(np.uint8).reshape(len(self), size)
        np.savez_compressed(content, allow_pickle=False, **arrays)
        return content.getvalue()

    @staticmethod
    def from_bytes(content: bytes, game: Game, values: int, source: str) -> Samples:
        """Return the positions in a file; raise SaveError where it holds something else."""
        names, size = [field.name for field in fields(Samples)], game.dtype.itemsize
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as found:
                arrays = {name: found[name] for name in names}
            count = len(arrays["states"])
            widths = {"states": size, "policies": game.facts.num_actions, "outcomes": values, "estimates": values}
            for name in names:
                kind = np.uint8 if name == "states" else np.float32
                if arrays[name].shape != (count, widths[name]) or arrays[name].dtype != kind:
                    raise ValueError(f"{name} are {arrays[name].dtype} {arrays[name].shape}")
                if name != "states" and not np.isfinite(arrays[name]).all():
                    raise ValueError(f"{name} are not finite")
        except Exception as error:  # noqa: BLE001 - of zip files, of NumPy, of missing names
            raise SaveError(f"{source} holds no positions of {game.name}: {error}") from None
        arrays["states"] = np.ascontiguousarray(arrays["states"]).view(game.dtype).reshape(count)
        return Samples(**arrays)


class Replay:
    """The positions of a run: all on disk, the newest in memory, in a window that grows with the root of their number.

    A chunk is one file, written at once; the chunks are numbered.

    >>> import pathlib, tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replay = Replay(pathlib.Path(folder), tt.load_game("tic_tac_toe"), 1, 1000)
    ...     replay.total, replay.window
    (0, 1000)
    """

    def __init__(self, folder: Path, game: Game, values: int, least: int) -> None:
        self._folder, self._game, self._values, self._least = folder, game, values, least
        folder.mkdir(parents=True, exist_ok=True)
        self._load()

    def _load(self) -> None:
        self._chunks: list[Samples] = []
        self._joined: Samples | None = None
        self.total = 0
        """Positions that were ever added."""
        for path in self.files():
            self._keep(self._read(path))

    def _read(self, path: Path) -> Samples:
        return Samples.from_bytes(read_bytes(path), self._game, self._values, str(path))

    def files(self) -> list[Path]:
        """Return the files of all chunks, in their order."""
        return sorted(path for path in self._folder.iterdir() if _FILE.fullmatch(path.name))

    @property
    def window(self) -> int:
        """How many of the newest positions are trained on."""
        return int(max(self._least, (self._least * self.total) ** 0.5 * 2.0))

    def __len__(self) -> int:
        return sum(map(len, self._chunks))

    def add(self, samples: Samples) -> None:
        """Write a chunk, and keep it."""
        numbers = [int(_FILE.fullmatch(path.name)[1]) for path in self.files()]  # type: ignore[index]
        with replacing(self._folder / f"{max(numbers, default=-1) + 1:06d}.npz") as file:
            file.write(samples.to_bytes())
        self._keep(samples)

    def drop_after(self, total: int) -> None:
        """Remove the chunks that were added after the first `total` positions."""
        if self.total > total:
            for path in reversed(self.files()):
                if self.total > total:
                    self.total -= len(self._read(path))
                    path.unlink()
            self._load()  # the window was moved on by what is gone

    def _keep(self, samples: Samples) -> None:
        self._chunks.append(samples)
        self.total += len(samples)
        while len(self) - len(self._chunks[0]) >= self.window:
            self._chunks.pop(0)
        self._joined = None

    def draw(self, rng: np.random.Generator, size: int) -> Samples:
        """Return positions of the window, drawn at random."""
        if self._joined is None:
            self._joined = Samples.joined(self._chunks)
        return self._joined.rows(rng.integers(len(self._joined), size=size))

    def digest(self) -> str:
        """Return a digest of all chunks on disk."""
        found = hashlib.sha256()
        for path in self.files():
            found.update(self._read(path).digest().encode())
        return found.hexdigest()


def examples(
    game: Game, samples: Samples, symmetries: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return the observations, policies and legal actions of positions, each by one of the game's symmetries."""
    states, policies = samples.states, samples.policies
    if symmetries.any():
        states, places = transformed(game, states, symmetries)
        policies = np.empty_like(policies)
        np.put_along_axis(policies, places.astype(np.int64), samples.policies, axis=1)
    return observations(game, states), policies, legal_mask(game, states)
