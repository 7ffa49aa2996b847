"""Save a search to a file and load it: everything that its next simulation reads."""

from __future__ import annotations

import math
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.checks import shorten
from treetop.errors import ConfigError, SaveError, TreetopError, UnknownGameError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_bundled, load_game
from treetop.kernels.record import CONTROL
from treetop.kernels.rules.own import OwnRule
from treetop.search.config import configure
from treetop.search.drivers.scratch import KEPT
from treetop.search.drivers.tree import TreeDriver
from treetop.search.evaluator import make_evaluator, name_of
from treetop.search.saved_checks import check_moves, check_position, check_tree, require, restore_driver, restore_tree
from treetop.tree.files import read, write
from treetop.tree.layout import LINKS, OPTIONAL, STATS, TRANSIENT

if TYPE_CHECKING:
    from treetop.search.search import Search

KIND, VERSION = "a search", 6
_HOOK = "a function"
_ARRAYS = ("root", "start", "stats", "links", "totals", "control")


def save(search: Search, driver: TreeDriver, path: Path) -> None:
    """Write a search to a file: see `Search.save`."""
    driver.update_table()
    config = search.config.flat()
    if callable(search.config.tie_break):
        config["tie_break"] = _HOOK
    if isinstance(search.config.rule, OwnRule):
        config["rule"] = _HOOK
    header = {
        "kind": KIND,
        "version": VERSION,
        "game": search.game.source or search.game.name,
        "rules": driver.engine.blueprint.digest,
        "python": platform.python_version(),
        "config": config,
        "evaluator": name_of(search.evaluator),
        "seed": search.seed,
        "actions": list(search.position.actions),
        "noisy": search._is_noisy,
        "scheduled": search._is_scheduled,
        "moved": search.tree.has_moved,
    }
    size, columns, work = search.tree.size, search.tree.columns, driver.scratch.work
    optional = {
        name: getattr(columns, name)[:size] for name in OPTIONAL if name not in TRANSIENT and search.tree.has(name)
    }
    kept = {f"work_{name}": getattr(work, name) for name in KEPT}
    write(
        path,
        header,
        {
            "root": search.position.record,
            "start": search.position.start,
            "stats": columns.stats[:size],
            "links": columns.links[:size],
            "totals": search.tree.totals,
            "control": driver.control,
            **optional,
            **kept,
        },
    )


def load(
    cls: type[Search], path: Path, game: Any, evaluator: Any, tie_break: Any, rule: Any, tier: str | None
) -> Search:
    """Return a search from a file: see `Search.load`."""
    header, arrays = read(path, KIND, VERSION)
    missing = [name for name in _ARRAYS if name not in arrays]
    if missing:
        raise SaveError(f"{path} is damaged: it lacks {', '.join(missing)}")
    if (
        not isinstance(header.get("config"), dict)
        or not isinstance(header.get("evaluator"), str)
        or not isinstance(header.get("actions"), list)
    ):
        raise SaveError(f"{path} is damaged: its header lacks the settings, the evaluator or the moves")
    known = _game(path, header, game)
    _compare_rules(path, header, known, arrays)
    try:
        config = configure(**_given(path, "rule", _given(path, "tie_break", header["config"], tie_break), rule))
        chosen = _evaluator(path, header["evaluator"], evaluator)
        position = Position(known, aligned(known, arrays["start"])).play(
            tuple(int(action) for action in header["actions"])
        )
        check_position(position, aligned(known, arrays["root"]))
        search = cls(position, config, evaluator=chosen, seed=int(header["seed"]), tier=tier)
    except (TypeError, KeyError, ValueError, OverflowError, TreetopError) as error:
        if isinstance(error, SaveError) and str(error).startswith(str(path)):
            raise
        raise SaveError(f"{path} cannot be continued: {error}") from error
    tree, driver = search.tree, search._driver
    assert isinstance(driver, TreeDriver)
    try:
        restore_tree(tree, arrays)
        search._is_noisy, search._is_scheduled = bool(header.get("noisy")), bool(header.get("scheduled"))
        tree.has_moved = bool(header.get("moved"))
        # With immediate rewards or a discount, a part of a game may be worth more or less than a whole one.
        partial = known.has("step_rewards") or config.values.discount != 1.0
        tree.check((-math.inf, math.inf) if partial else known.facts.rewards)
        check_tree(tree)
        missing = [name for name in KEPT if f"work_{name}" not in arrays]
        require(not missing, f"it lacks {', '.join(missing)}")
        restore_driver(driver, arrays["control"], {name: arrays[f"work_{name}"] for name in KEPT})
        check_moves(driver)
    except (TypeError, ValueError, IndexError, OverflowError, TreetopError) as error:
        raise SaveError(f"{path} is damaged: {error}") from error
    return search


def aligned(game: Game, record: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a state from a file as an aligned record: files do not keep the alignment that compiled code needs."""
    state = np.zeros(1, game.dtype)
    state[:] = record
    return state


def _game(path: Path, header: dict[str, Any], given: Any) -> Game:
    if given is not None:
        return load_game(given)
    try:
        return load_bundled(str(header.get("game")))
    except UnknownGameError as error:
        raise SaveError(
            f"{path} is a search of {shorten(str(header.get('game')))}, which is not a bundled game: pass the game as "
            f"well, as game=... or on the command line as `treetop search GAME --load FILE` ({error})"
        ) from error


def _compare_rules(path: Path, header: dict[str, Any], game: Game, arrays: dict[str, Any]) -> None:
    if header.get("rules") != game.digest:
        version = header.get("python")
        hint = (
            f" (it was saved under Python {version}, and rules are compared as bytecode)"
            if version != platform.python_version()
            else ""
        )
        raise SaveError(
            f"{path} is a search of {header.get('game')}, whose rules are not those of {game.source or game.name}: "
            f"they have changed since, or it is another game{hint}"
        )
    facts = game.facts
    size = len(arrays["stats"])
    good = (
        all(arrays[name].dtype == game.dtype and arrays[name].shape == (1,) for name in ("root", "start"))
        and arrays["stats"].dtype == STATS
        and size > 0
        and arrays["links"].dtype == LINKS
        and len(arrays["links"]) == size
        and arrays["control"].dtype == CONTROL
        and arrays["control"].shape == (1,)
        and arrays["totals"].shape == (facts.players,)
    )
    if not good:
        raise SaveError(f"{path} is damaged: its arrays do not fit together")


def _given(path: Path, name: str, config: dict[str, Any], given: Any) -> dict[str, Any]:
    """Return the settings with the caller's own function in its place, because no file can hold it."""
    if given is None and config.get(name) == _HOOK:
        kind = "tie-break function" if name == "tie_break" else "custom rule"
        raise SaveError(f"{path} was searched with a {kind}, which no file can hold: give it as {name}=...")
    return config if given is None else {**config, name: given}


def _evaluator(path: Path, name: str, given: Any) -> Any:
    if given is not None:
        if name_of(given) != name:
            raise SaveError(f"{path} was searched with the evaluator {name}, not {name_of(given)}")
        return given
    try:
        return make_evaluator(name)
    except ConfigError:
        raise SaveError(f"{path} was searched with the evaluator {name}: give it as evaluator=...") from None
