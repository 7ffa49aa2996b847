"""Search one position in several workers at the same time, and merge the roots (root parallelization).

Each worker searches the same root with a seed of its own, derived from the given one. Nothing is shared while they
search, so the result depends on the seed and the number of workers alone, wherever they are, if the limit is in
simulations. Trees stay with the workers; the root's statistics come back.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from treetop import checks
from treetop.compiler.rng import STEP, mix
from treetop.errors import ConfigError, SearchError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_same, name_for_workers
from treetop.kernels.rules.own import OwnRule
from treetop.search.config import SearchConfig
from treetop.search.limits import MOST_WORKERS, Limit
from treetop.search.merging import Merged, Part, merge_numbers, merge_roots, merge_usage, merge_variations
from treetop.search.progress import Progress
from treetop.search.result import SearchResult
from treetop.search.saving import aligned
from treetop.workers.places import in_this_process
from treetop.workers.pool import Pool
from treetop.workers.sending import Luggage
from treetop.workers.units import Unit

if TYPE_CHECKING:
    from treetop.search.search import Search

_SETUP = "treetop.search.parallel:Searcher"


def seed_of(seed: int, number: int) -> int:
    """Return the seed of one of several searches. The first has the given one.

    >>> seed_of(7, 0), seed_of(7, 1) == seed_of(7, 2)
    (7, False)
    """
    return seed if number == 0 else mix(mix(seed + STEP) + number) >> 11


class Searcher:
    """The work of one worker: it searches the same root again, each time with another seed."""

    def __init__(
        self,
        game: str | Game,
        rules: str,
        records: tuple[npt.NDArray[Any], npt.NDArray[Any]],
        actions: tuple[Any, ...],
        options: dict[str, Any],
        limit: Limit,
    ) -> None:
        known = load_same(game, rules)
        record, start = (aligned(known, one) for one in records)
        self._position = Position(known, record, actions, start)
        self._options, self._limit = options, limit
        self._search(0).prepare(advance=False)  # so that compiling is over before the first search

    def __call__(self, seed: int) -> Part:
        """Search with a seed, and return the root."""
        return Part.of(self._search(seed).run(self._limit))

    def _search(self, seed: int) -> Search:
        from treetop.search.search import Search

        return Search(self._position, seed=seed, **self._options)


def run_parallel(
    search: Search,
    limit: Limit,
    *,
    workers: int | None,
    on: str | None = None,
    tier: str | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> SearchResult:
    """Run a new search in several workers, each up to the limit, and return the merged result.

    `search` holds the position and the settings, and is not run itself. `progress` is called after each search. Ctrl-C
    ends it with the searches that are finished.
    """
    checks.whole("workers", workers, 1, MOST_WORKERS, optional=True)
    _refuse(search)
    position, config, game = search.position, search.config, search.game
    options = {"config": config, "evaluator": search.evaluator, "player": _player(search), "tier": tier}
    options |= search.together
    source = game if in_this_process(on, workers) else name_for_workers(game)
    arguments = (source, game.digest, (position.record, position.start), position.actions, options, limit)
    if not in_this_process(on, workers):
        _check_sendable(config, search.evaluator)
    parts: dict[int, Part] = {}
    asked, interrupted = workers or 0, False
    try:
        with Pool(_SETUP, arguments, workers=workers, on=on, luggage=Luggage((game.source or "",))) as pool:
            asked = pool.workers
            units = [Unit(f"search {number}", (seed_of(search.seed, number),)) for number in range(asked)]
            for outcome in pool.run(units):
                if not outcome.ok:
                    raise SearchError(f"{outcome.unit.id} failed: {outcome.reason}\n{outcome.traceback}".rstrip())
                parts[units.index(outcome.unit)] = outcome.value
                if progress is not None:
                    now = _result(search, parts, asked, interrupted=False)
                    progress(Progress(now.simulations, now.elapsed, now.move, now.value, limit))
    except KeyboardInterrupt:
        if not parts:
            raise
        interrupted = True
    return _result(search, parts, asked, interrupted=interrupted)


def _result(search: Search, found: dict[int, Part], asked: int, *, interrupted: bool) -> SearchResult:
    """Return the merged result, in the order of the seeds, so that sums do not depend on the order of the answers."""
    numbers = sorted(found)
    parts = [found[number] for number in numbers]
    solutions = tuple(dict.fromkeys(part.solution for part in parts if part.solution is not None))
    merged = Merged(
        asked,
        tuple(part.usage.simulations for part in parts),
        tuple(seed_of(search.seed, number) for number in numbers),
        merge_variations(parts),
        solutions,
    )
    return SearchResult(
        position=search.position,
        config=search.config,
        seed=search.seed,
        player=search.player,
        tree=search.tree,
        usage=merge_usage(parts, asked, interrupted=interrupted),
        merged=merged,
        _search=search,
        _generation=search.tree.generation,
        _root=merge_roots(parts),
        **merge_numbers(parts),
    )


def _player(search: Search) -> int | None:
    """Return the player, where several move simultaneously."""
    return None if search.position.player == search.player else search.player


def _refuse(search: Search) -> None:
    """Raise ConfigError for searches whose roots cannot be merged."""
    reason = None
    if not search._driver.is_game:
        reason = "a Python problem is searched by one: its evaluations can run in processes (`run_remote`)"
    elif search.game.facts.action_size:
        reason = "with continuous actions each search draws its own, so that there is nothing to add up"
    elif search.config.root.schedules:
        reason = "root='gumbel' draws its own numbers in each search; use another root rule"
    elif isinstance(search.config.rule, OwnRule):
        reason = "a rule of your own is compiled in this process and cannot be sent; use a built-in rule"
    elif search.simulations:
        reason = "a search that has started is continued by one"
    if reason is not None:
        raise ConfigError(f"several workers cannot share this search: {reason}")


def _check_sendable(config: SearchConfig, evaluator: Any) -> None:
    """Raise ConfigError for settings that another process cannot have."""
    for name, value in (("the settings", config), ("the evaluator", evaluator)):
        try:
            pickle.dumps(value)
        except Exception as error:
            raise ConfigError(
                f"{name} cannot be sent to other processes: functions and classes must be defined in a module "
                f"({type(error).__name__}: {error})"
            ) from error
