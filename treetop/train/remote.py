"""Self-play by workers: processes of this machine, or a Ray cluster. One learner trains on the games of all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from treetop.compiler.rng import mix
from treetop.errors import MissingExtraError, SearchError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.model import Model
from treetop.game.registry import load_same, name_for_workers
from treetop.train.network import load_torch
from treetop.train.options import TrainOptions
from treetop.train.self_play import Played, SelfPlay
from treetop.workers.places import on_cluster
from treetop.workers.pool import Pool
from treetop.workers.sending import Luggage
from treetop.workers.units import Unit

_SECONDS = 2.0  # that a worker plays before it returns what has ended
_Network = tuple[int, bool, dict[str, Any], dict[str, Any], bytes | None]
"""A number that changes with the weights; whether the network only learns yet; the architecture, the weights, and the
graph of a user's module."""


class RemotePlay:
    """Games of several workers; it is used as `SelfPlay` is. A worker that is lost costs its games in progress."""

    def __init__(
        self,
        model: Model,
        options: TrainOptions,
        seed: int,
        *,
        bootstrap: bool,
        workers: int | None,
        on: str | None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        game = model.game
        self._seed, self._number, self.positions = seed, 0, 0
        self._network = _packed(model, self._number, bootstrap)
        if not on_cluster(on):  # what has to be compiled is then in the cache before the workers start
            few = replace(options, slots=2, simulations=2, bootstrap_simulations=2 if bootstrap else None)
            play = SelfPlay(model, few, seed, bootstrap=bootstrap)
            play.step()
            if bootstrap:
                play.use(model)
                play.step()
        self._pool = Pool(
            "treetop.train.remote:setup",
            (name_for_workers(game), game.digest, options.to_dict()),
            workers=workers,
            on=on,
            luggage=Luggage((game.source or "",)),
        )
        self._outcomes = self._pool.run(self._units(), stopped=stopped)

    def _units(self) -> Iterator[Unit]:
        """Yield units without end, each with the network of the moment."""
        number = 0
        while True:
            yield Unit(f"self-play {number}", (mix(self._seed + number) >> 1, self._network))
            number += 1

    def ends(self) -> bool:
        """Return False: the games in progress go on in later iterations."""
        return False

    def use(self, model: Model, *, bootstrap: bool = False) -> None:
        """Let the units that begin from now on use a network."""
        self._number += 1
        self._network = _packed(model, self._number, bootstrap)

    def step(self) -> list[Played]:
        """Wait for a worker; return the games that have ended there, none if the run was stopped."""
        outcome = next(self._outcomes, None)
        if outcome is None:
            return []
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
        self._number: int | None = None

    def __call__(self, seed: int, network: _Network) -> tuple[list[Played], int]:
        """Play for a while; return the games that have ended, and how many positions were searched."""
        number, bootstrap, architecture, weights, graph = network
        if number != self._number or self._play is None:
            model = Model(self._game, Architecture.from_dict(architecture), weights, {}, graph)
            self._play = self._play or SelfPlay(model, self._options, seed, bootstrap=bootstrap)
            self._play.use(model, bootstrap=bootstrap)
            self._number = number
        before, games, end = self._play.positions, list[Played](), time.monotonic() + _SECONDS
        while True:
            games += self._play.step()
            if time.monotonic() > end:
                return games, self._play.positions - before


def setup(game: str, digest: str, options: dict[str, Any]) -> _Worker:
    """Return the self-play of a worker, which uses one core."""
    with suppress(MissingExtraError):  # then networks run in onnxruntime
        load_torch().set_num_threads(1)
    return _Worker(game, digest, options)


def _packed(model: Model, number: int, bootstrap: bool) -> _Network:
    return number, bootstrap, model.architecture.to_dict(), dict(model.weights), model.graph
