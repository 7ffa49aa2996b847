"""Self-play by workers: processes of this machine, or a Ray cluster. One learner trains on the games of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from treetop.compiler.rng import mix
from treetop.errors import MissingExtraError, SearchError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.model import Model
from treetop.game.registry import load_same, name_for_workers
from treetop.train.network import load_torch
from treetop.train.options import TrainOptions
from treetop.train.self_play import Played, SelfPlay
from treetop.workers.pool import Pool
from treetop.workers.sending import Luggage
from treetop.workers.units import Unit

_STEPS = 12  # moves in every slot that a worker plays before it returns what has ended
_Network = tuple[dict[str, Any], dict[str, Any], bytes | None]


class RemotePlay:
    """Games of several workers; it is used as `SelfPlay` is. A worker that is lost costs its games in progress."""

    def __init__(self, model: Model, options: TrainOptions, seed: int, *, workers: int | None, on: str | None) -> None:
        game = model.game
        self._seed, self._network, self.positions = seed, _packed(model), 0
        self._pool = Pool(
            "treetop.train.remote:setup",
            (name_for_workers(game), game.digest, options.to_dict()),
            workers=workers,
            on=on,
            luggage=Luggage((game.source or "",)),
        )
        self._outcomes = self._pool.run(self._units())

    def _units(self) -> Iterator[Unit]:
        """Yield units without end, each with the network of the moment."""
        number = 0
        while True:
            yield Unit(f"self-play {number}", (mix(self._seed + number) >> 1, self._network))
            number += 1

    def use(self, model: Model) -> None:
        """Let the units that begin from now on use a network."""
        self._network = _packed(model)

    def step(self) -> list[Played]:
        """Wait for a worker; return the games that have ended there."""
        outcome = next(self._outcomes)
        if not outcome.ok:
            raise SearchError(f"a worker of self-play failed: {outcome.reason}\n{outcome.traceback}".rstrip())
        played, positions = outcome.value
        self.positions += positions
        return list(played)

    def close(self) -> None:
        """End the workers."""
        self._outcomes.close()  # type: ignore[attr-defined]
        self._pool.close(patience=0.0)


class _Worker:
    """The self-play of a worker. Its games in progress go on from unit to unit."""

    def __init__(self, game: str, digest: str, options: dict[str, Any]) -> None:
        self._game, self._options = load_same(game, digest), TrainOptions.from_dict(options)
        self._play: SelfPlay | None = None

    def __call__(self, seed: int, network: _Network) -> tuple[list[Played], int]:
        """Play some moves in every slot; return the games that have ended, and how many positions were searched."""
        architecture, weights, graph = network
        model = Model(self._game, Architecture.from_dict(architecture), weights, {}, graph)
        if self._play is None:
            self._play = SelfPlay(model, self._options, seed)
        self._play.use(model)
        before, games = self._play.positions, list[Played]()
        for _ in range(_STEPS):
            games += self._play.step()
        return games, self._play.positions - before


def setup(game: str, digest: str, options: dict[str, Any]) -> _Worker:
    """Return the self-play of a worker, which uses one core."""
    with suppress(MissingExtraError):  # then networks run in onnxruntime
        load_torch().set_num_threads(1)
    return _Worker(game, digest, options)


def _packed(model: Model) -> _Network:
    return model.architecture.to_dict(), dict(model.weights), model.graph
