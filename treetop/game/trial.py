"""The trial of new rules: interpreted random games with all checks, before a game is first played or compiled.

Compiled code does not check ranges, so an error in the rules may appear far from its cause. Unchecked rules are
therefore played for a second, interpreted. A passed trial is recorded in the cache folder, under the rules digest.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import marshal
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

from treetop.compiler.cache import cache_folder
from treetop.compiler.rng import Rng, mix
from treetop.errors import SaveError
from treetop.files import replacing
from treetop.game.contract import ContractError
from treetop.game.definition import Game
from treetop.game.methods import FOR_PEOPLE
from treetop.game.watchdog import EndlessError, Watchdog

GAMES, SECONDS = 40, 1.0
"""A trial ends after this number of games or seconds of CPU time, whichever comes first."""
_SEED = 20_240_607
_MAGIC = "treetop trial 1"

_passed: set[str] = set()
_running: set[int] = set()


def require_trial(game: Game, digest: str | None = None) -> None:
    """Raise a `ConformanceError` if a trial of the game's current rules finds a violation.

    Rules that have passed are not tried again. Bundled games are not tried: their tests cover more.
    """
    if game.is_bundled or id(game) in _running:
        return
    key = _key(game, game.digest if digest is None else digest)
    if key in _passed:
        return
    if not _is_remembered(game, key):
        _running.add(id(game))
        try:
            _try(game)
        finally:
            _running.discard(id(game))
        _remember(game, key)
    _passed.add(key)


def _try(game: Game) -> None:
    from treetop.game.examiner import Examiner
    from treetop.game.shortest import conformance_error

    examiner = Examiner(game, compiled=False)
    began = time.thread_time()
    try:
        with Watchdog():
            for index in range(GAMES):
                if time.thread_time() - began > SECONDS:
                    return
                played: list[Any] = []
                rng = Rng(mix(_SEED) ^ mix(index + 1))
                deal = mix(rng.word)
                try:
                    examiner.play(rng, deal, 1, played, began + SECONDS)
                except ContractError as broken:
                    raise conformance_error(examiner, deal, played, broken, SECONDS) from broken.__cause__
    except EndlessError:  # it was raised too late: the slow call had just ended
        return


def _key(game: Game, digest: str) -> str:
    """Return the name of a trial: a digest of the rules, the methods for people, and the checks themselves."""
    codes = {
        name: getattr(inspect.unwrap(getattr(game.cls, name)), "__code__", None)
        for name in FOR_PEOPLE
        if game.has(name)
    }
    people = {name: hashlib.sha256(marshal.dumps(code)).hexdigest() for name, code in codes.items() if code is not None}
    text = repr((digest, sorted(people.items()), _checks(), platform.python_version(), np.__version__))
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _checks() -> str:
    """Return a digest of this package's sources, which determine what a trial finds."""
    content = hashlib.sha256()
    for file in sorted(Path(__file__).resolve().parent.glob("*.py")):
        content.update(f"{file.name}:".encode() + hashlib.sha256(file.read_bytes()).digest())
    return content.hexdigest()


def _file(key: str) -> Path:
    return cache_folder() / "trials" / key


def _content(game: Game, key: str) -> bytes:
    return f"{_MAGIC}\n{game.name}\n{key}\n".encode()


def _is_remembered(game: Game, key: str) -> bool:
    try:
        return _file(key).read_bytes() == _content(game, key)
    except OSError:
        return False


def _remember(game: Game, key: str) -> None:
    """Record a passed trial for the next process. Without a writable folder the trial is repeated there."""
    file = _file(key)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as handle:
            handle.write(_content(game, key))
    except (OSError, SaveError):
        pass
