"""A search in a file: everything that its next simulation reads."""

from __future__ import annotations

import dataclasses
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.errors import ConfigError, SaveError, UnknownGameError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.kernels.control import CONTROL
from treetop.search.config import SearchConfig
from treetop.search.evaluator import CompiledEvaluator, Rollout, Uniform, name_of
from treetop.tree.files import read, write
from treetop.tree.layout import LINKS, STATS
from treetop.tree.storage import Columns

if TYPE_CHECKING:
    from treetop.search.search import Search

KIND, VERSION = "a search", 1
_HOOK = "a function"
_ARRAYS = ("root", "start", "stats", "links", "returns", "totals", "control")


def save(search: Search, path: Path) -> None:
    """See `Search.save`."""
    config = {field.name: getattr(search.config, field.name) for field in dataclasses.fields(search.config)}
    if callable(search.config.tie_break):
        config["tie_break"] = _HOOK
    header = {
        "kind": KIND,
        "version": VERSION,
        "game": search.game.source or search.game.name,
        "rules": search._engine.blueprint.digest,
        "python": platform.python_version(),
        "config": config,
        "evaluator": name_of(search.evaluator),
        "seed": search.seed,
        "actions": list(search.position.actions),
    }
    size, columns = search.tree.size, search.tree.columns
    write(path, header, {
        "root": search.position.record, "start": search.position.start, "stats": columns.stats[:size], "links": columns.links[:size], "returns": columns.returns[:size],
        "totals": search.tree.totals, "control": search._control,
    })  # fmt: skip


def load(cls: type[Search], path: Path, game: Any, evaluator: Any, tie_break: Any) -> Search:
    """See `Search.load`."""
    header, arrays = read(path, KIND, VERSION)
    missing = [name for name in _ARRAYS if name not in arrays]
    if missing:
        raise SaveError(f"{path} is damaged: it lacks {', '.join(missing)}")
    known = _game(path, header, game)
    _compare_rules(path, header, known, arrays)
    try:
        config = SearchConfig(**_tie_break(path, header["config"], tie_break))
        position = Position(known, arrays["root"], tuple(int(action) for action in header["actions"]), arrays["start"])
        search = cls(position, config, evaluator=_evaluator(path, header["evaluator"], evaluator), seed=int(header["seed"]))
    except (TypeError, KeyError, ConfigError) as error:
        raise SaveError(f"{path} cannot be continued: {error}") from error
    tree = search.tree
    tree.columns = Columns(arrays["stats"], arrays["links"], np.ascontiguousarray(arrays["returns"]), np.zeros(0, np.int32))
    tree.size = len(arrays["stats"])
    tree.totals[:] = arrays["totals"]
    search._control[:] = arrays["control"]
    try:
        tree.check(known.facts.rewards)
    except Exception as error:
        raise SaveError(f"{path} is damaged: {error}") from error
    return search


def _game(path: Path, header: dict[str, Any], given: Any) -> Game:
    if given is not None:
        return load_game(given)
    try:
        return load_game(str(header.get("game")))
    except UnknownGameError as error:
        raise SaveError(f"{path} is a search of {header.get('game')}, which cannot be found by that name: give it as game=... ({error})") from error


def _compare_rules(path: Path, header: dict[str, Any], game: Game, arrays: dict[str, Any]) -> None:
    if header.get("rules") != game.digest:
        version = header.get("python")
        hint = f" (it was saved under Python {version}, and rules are compared as bytecode)" if version != platform.python_version() else ""
        raise SaveError(f"{path} is a search of {header.get('game')}, whose rules are not those of {game.name}{hint}")
    facts = game.facts
    size = len(arrays["stats"])
    good = (
        all(arrays[name].dtype == game.dtype and arrays[name].shape == (1,) for name in ("root", "start")) and arrays["stats"].dtype == STATS and size > 0
        and arrays["links"].dtype == LINKS and len(arrays["links"]) == size and arrays["control"].dtype == CONTROL
        and arrays["control"].shape == (1,) and arrays["totals"].shape == (facts.players,) and len(arrays["returns"]) in (0, size)
    )  # fmt: skip
    if not good:
        raise SaveError(f"{path} is damaged: its arrays do not fit together")


def _tie_break(path: Path, config: dict[str, Any], given: Any) -> dict[str, Any]:
    if config.get("tie_break") != _HOOK:
        return config if given is None else {**config, "tie_break": given}
    if given is None:
        raise SaveError(f"{path} was searched with a tie-break function, which no file can hold: give it as tie_break=...")
    return {**config, "tie_break": given}


def _evaluator(path: Path, name: str, given: Any) -> Any:
    if given is not None:
        if name_of(given) != name:
            raise SaveError(f"{path} was searched with the evaluator {name}, not {name_of(given)}")
        return given
    compiled: dict[str, type[CompiledEvaluator]] = {"rollout": Rollout, "uniform": Uniform}
    if name not in compiled:
        raise SaveError(f"{path} was searched with the evaluator {name}: give it as evaluator=...")
    return compiled[name]()  # type: ignore[call-arg]
