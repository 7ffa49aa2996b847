"""A network with its weights: an evaluator, and two files in a folder, `model.json` and `model.safetensors`.

A network whose graph is not one of ours, a module of the user's, has `model.onnx` in place of the weights.
"""

from __future__ import annotations

import json
import math
import shlex
import sys
import time
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.checks import shorten
from treetop.errors import ConfigError, MissingExtraError, SaveError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.arrays import refuse_wrong_arrays
from treetop.evaluators.networks.graph import Weights, onnx_model
from treetop.evaluators.networks.half import HalfSession, is_faster_in_half
from treetop.evaluators.networks.places import planes_of, policy_places
from treetop.files import parse_json, read_bytes, replacing
from treetop.game.definition import Game
from treetop.game.registry import load_bundled, load_game
from treetop.search.batch import Batch
from treetop.search.states import observation_shape

MANIFEST, WEIGHTS, GRAPH = "model.json", "model.safetensors", "model.onnx"
KIND, VERSION = "a network", 1
_BUNDLED = Path(__file__).parent / "bundled"
_LONGEST_HEADER = 2**20  # bytes of a file of weights beside the weights themselves


@dataclass
class Throughput:
    """How much a network has evaluated."""

    positions: int = 0
    batches: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        size = self.positions / max(self.batches, 1)
        rate = self.positions / self.seconds if self.seconds else 0.0
        return f"{self.positions:,} positions in {self.batches:,} batches of {size:.1f}, {rate:,.0f} positions/s"


@dataclass(eq=False)
class Model:
    """A policy and value network of a game, as an evaluator of searches. It runs in onnxruntime, with one thread.

    `made` says how it was made: any plain values. `Model.save` writes it, `treetop.load_model` reads it. A network with
    the architecture "own" has an ONNX model, `graph`, instead of weights.
    """

    game: Game
    architecture: Architecture
    weights: Weights = field(repr=False)
    made: Mapping[str, Any] = field(default_factory=dict, repr=False)
    graph: bytes | None = field(default=None, repr=False)
    throughput: Throughput = field(default_factory=Throughput, repr=False)

    def __post_init__(self) -> None:
        refuse_unfit(self.game, self.architecture)
        if self.architecture.kind != "own":
            refuse_wrong_arrays(self.weights, self.architecture.arrays(), "the weights of the network")
        self._places = policy_places(self.game) if self.architecture.planes else None
        self._range = self.game.facts.value_range(step_rewards=self.game.has("step_rewards"))
        self._session: Any = _session(self.to_onnx())
        if self.architecture.kind == "own":
            self._try_out()

    def _try_out(self) -> None:
        """Evaluate an empty observation; raise SaveError where the graph of a user's module does not fit."""
        wanted = [(2, self.architecture.actions), (2, self.architecture.outputs)]
        try:
            found = self._session.run(None, {"observations": np.zeros((2, *self.architecture.observation), np.float32)})
            shapes = [array.shape for array in found]
        except Exception as error:  # noqa: BLE001 - onnxruntime raises many kinds
            raise SaveError(f"the network cannot evaluate positions of {self.game.name}: {error}") from None
        if shapes != wanted or not all(np.isfinite(array).all() for array in found):
            raise SaveError(
                f"the network must give finite logits and values of the shapes {wanted} for two positions of "
                f"{self.game.name}, not {shapes}"
            )

    @classmethod
    def untrained(cls, game: Game, size: str = "small", *, seed: int = 0, outcomes: bool = False) -> Model:
        """Return a network with random weights: as fast as a trained one, and as good as a guess."""
        architecture, rng = Architecture.of(game, size, outcomes=outcomes), np.random.default_rng(seed)
        weights = {}
        for name, shape in architecture.arrays().items():
            spread = math.sqrt(2.0 / math.prod(shape[1:])) if name.endswith("weight") else 0.1
            if name in ("policy.weight", "value.weight"):
                spread *= 0.1  # a new network has weak opinions, so that batches are full
            weights[name] = rng.normal(0.0, spread, shape).astype(np.float32)
        return cls(game, architecture, weights, {"seed": seed})

    def for_self_play(self) -> Model:
        """Return the same network for self-play: in bfloat16 by PyTorch where that is faster."""
        if not is_faster_in_half(self.architecture):
            return self
        found = copy(self)
        found._session = HalfSession(self.architecture, self.weights, self._places)
        return found

    def evaluate(self, batch: Batch) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """Return the logits of all actions, and values on the game's own scale."""
        logits, values = self.run(batch.observations)
        return logits, self.scaled(values, batch.players)

    def run(self, observations: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the logits and the values of observations: from -1 to 1; with a linear head as the game has them."""
        start = time.perf_counter()
        logits, values = self._session.run(None, {"observations": observations})
        used = self.throughput
        used.positions, used.batches = used.positions + len(observations), used.batches + 1
        used.seconds += time.perf_counter() - start
        return logits, expected(values) if self.architecture.head == "outcomes" else values

    def scaled(self, values: npt.NDArray[np.float32], players: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return values on the game's own scale, by player; in a zero-sum game those of the player to move.

        `values` are those of `run`, of the players in turn, the player to move first.
        """
        low, high = self._range
        worth = values.astype(np.float64)
        if self.architecture.head != "linear":
            worth += 1.0
            worth *= 0.5
            worth *= high - low
            worth += low
        np.maximum(worth, low, out=worth)  # NaN stays, and is refused by the search
        np.minimum(worth, high, out=worth)
        count = self.architecture.values
        if count == 1:
            return np.asarray(worth[:, 0])
        seats = (players[:, None] + np.arange(count)) % count
        found = np.empty_like(worth)
        np.put_along_axis(found, seats, worth, axis=1)
        return found

    def to_onnx(self) -> bytes:
        """Return an ONNX model: `observations` to `logits` and `values`."""
        return onnx_model(self.architecture, self.weights, self._places) if self.graph is None else self.graph

    def save(self, folder: str | Path) -> None:
        """Write the two files to a folder. The weights are written first; each file is replaced at once."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        name, content = GRAPH, self.graph
        if content is None:
            arrays = {name: np.ascontiguousarray(array) for name, array in self.weights.items()}
            name, content = WEIGHTS, safetensors().numpy.save(arrays)
        manifest = {
            "kind": KIND, "version": VERSION, "game": self.game.source or self.game.name, "rules": self.game.digest,
            "architecture": self.architecture.to_dict(), "made": dict(self.made),
        }  # fmt: skip
        with replacing(path / name) as file:
            file.write(content)
        with replacing(path / MANIFEST) as file:
            file.write(json.dumps(manifest, indent=1).encode())


def load_model(folder: str | Path, *, game: str | Game | None = None) -> Model:
    """Return the network in a folder as an evaluator, or one that comes with Treetop: `"bundled:connect_four"`.

    Give the game if it is not a bundled one: a file's text imports no module. With a game, `"bundled"` is its network.
    Needs `pip install -e ".[onnx]"`.

    >>> load_model("no_such_folder")
    Traceback (most recent call last):
    treetop.errors.SaveError: there is no file no_such_folder/model.json
    """
    own, _, name = str(folder).partition(":")
    known_game = None if game is None else load_game(game)
    if own == "bundled":
        known_game = load_bundled(name) if name else known_game
        if known_game is None:
            raise ConfigError("give the game of a bundled network, as in 'bundled:connect_four'")
    path = Path(folder) if own != "bundled" or known_game is None else _bundled(known_game)
    manifest = _read_manifest(path / MANIFEST)
    architecture = Architecture.from_dict(manifest["architecture"])
    known_game = named_in(path, manifest["game"]) if known_game is None else known_game
    if own != "bundled" and known_game.digest != manifest["rules"]:  # it depends on the version of Python
        raise SaveError(
            f"{path} holds a network for {shorten(manifest['game'])} with other rules than those of {known_game.name}: "
            "give the game that it was trained on, or train it again"
        )
    if architecture.kind == "own":
        return Model(known_game, architecture, {}, manifest["made"], read_bytes(path / GRAPH))
    return Model(known_game, architecture, _read_weights(path / WEIGHTS, architecture), manifest["made"])


def named_in(path: Path, name: str) -> Game:
    """Return the bundled game that a file names; raise SaveError where it names a module, which is not imported."""
    if ":" in name.partition("(")[0]:
        raise SaveError(
            f"{path} belongs to {shorten(name)}, which imports a module, and files may not do that: give the game "
            "again, in the shell as GAME or --game, in Python as game="
        )
    return load_bundled(name)


def bundled_networks() -> dict[str, Path]:
    """Return the folders of the networks that come with Treetop, by the names of their games.

    >>> all((folder / "model.json").exists() for folder in bundled_networks().values())
    True
    """
    found = sorted(_BUNDLED.glob("*/" + MANIFEST)) if _BUNDLED.is_dir() else []
    return {str(_read_manifest(path)["game"]): path.parent for path in found}


def _bundled(game: Game) -> Path:
    known = bundled_networks()
    name = game.source or game.name
    if name not in known:
        near = [other for other in known if other.partition("(")[0] == name.partition("(")[0]]
        have = f"there is one of {near[0]}" if near else f"only of {', '.join(known) or 'no game'}"
        raise ConfigError(
            f"no network of {name} comes with Treetop, {have}: train one by treetop train {shlex.quote(name)} --out run"
        )
    return known[name]


def refuse_unfit(game: Game, architecture: Architecture) -> None:
    """Raise ConfigError where a network of this shape cannot evaluate positions of a game."""
    wanted = observation_shape(game), game.facts.num_actions, 1 if game.facts.zero_sum else game.facts.players
    given = architecture.observation, architecture.actions, architecture.values
    if wanted != given:
        raise ConfigError(
            f"{game.name} has observations, actions and values of the sizes {wanted}, the network of {given}: it was "
            "made for another game"
        )
    if architecture.planes and architecture.planes != planes_of(game):
        raise ConfigError(
            f"{game.name} has {planes_of(game)} policy planes, the network {architecture.planes}: it was made for "
            "another game"
        )


def expected(outcomes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the value of logits of win, draw and loss: the probability of a win less that of a loss."""
    shares = np.exp(outcomes - outcomes.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares[:, :1] - shares[:, 2:])


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = parse_json(read_bytes(path))
    except ValueError as error:
        if isinstance(error, SaveError):
            raise
        raise SaveError(f"{path} is not the manifest of a network: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise SaveError(f"{path} is not the manifest of a network")
    if manifest.get("version") != VERSION:
        raise SaveError(f"{path} has the version {manifest.get('version')}; this Treetop reads version {VERSION}")
    for name, kind in (("game", str), ("rules", str), ("architecture", dict), ("made", dict)):
        if not isinstance(manifest.get(name), kind):
            raise SaveError(f"{path} has no {name!r}, or a wrong one")
    return manifest


def _read_weights(path: Path, architecture: Architecture) -> dict[str, npt.NDArray[np.float32]]:
    size = 4 * architecture.parameters
    try:
        found = path.stat().st_size
    except OSError as error:
        raise SaveError(f"{path} cannot be read: {error.strerror}") from error
    if not size <= found <= size + _LONGEST_HEADER:
        raise SaveError(f"{path} has {found:,} bytes; the weights of this network are {size:,}")
    try:
        loaded: dict[str, npt.NDArray[np.float32]] = safetensors().numpy.load(read_bytes(path))
    except SaveError:
        raise
    except Exception as error:  # noqa: BLE001 - the package raises an error of its own, which names what is wrong
        raise SaveError(f"{path} is not a file of weights: {error}") from None
    refuse_wrong_arrays(loaded, architecture.arrays(), str(path))
    return loaded


def safetensors() -> Any:
    """Return the package safetensors; raise MissingExtraError where it is not installed."""
    try:
        import safetensors.numpy as found
    except ImportError as error:
        raise MissingExtraError("weights of networks are read and written by safetensors", extra="onnx") from error
    return sys.modules[found.__package__ or "safetensors"]


def _session(model: bytes) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("networks are run by onnxruntime", extra="onnx") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - onnxruntime raises many kinds
        raise SaveError(f"the network is not a model that onnxruntime can run: {error}") from None
