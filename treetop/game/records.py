"""Save and load an interactive game: its moves, its players and the settings of the engine, to be resumed.

The file is JSON. It has the game's name, its rules digest and the actions, but no state: loading replays the actions,
so a file that was edited is either a legal game or refused.
"""

from __future__ import annotations

import dataclasses
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.checks import is_number, is_whole, shorten
from treetop.compiler.rng import Rng
from treetop.errors import GameDefinitionError, IllegalMoveError, SaveError, UnknownGameError
from treetop.files import parse_json, read_bytes, replacing
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_bundled, load_game

KIND, VERSION = "a game", 1


@dataclass(frozen=True)
class GameRecord:
    """A game between people and the engine, finished or not.

    >>> import treetop
    >>> record = GameRecord.of(treetop.position("nim(stones=5)", moves="2 1"), person=(0,))
    >>> record.actions, record.person
    ((1, 0), (0,))
    """

    game: str
    """The name of the game; a game that is not bundled must be passed to the function that loads the file."""
    rules: str
    """The rules digest."""
    actions: tuple[Any, ...]
    """The actions from the start: whole numbers, or tuples for simultaneous moves and continuous actions."""
    person: tuple[int, ...]
    """The players that people control; the engine controls the others."""
    rule: str = "uct"
    c: float | None = None
    simulations: int | None = None
    seconds: float | None = None
    seed: int = 0
    deal: int | None = None
    """The seed of the deal, for games with `deal`."""
    python: str = dataclasses.field(default_factory=platform.python_version)
    """The Python version that saved it: rules are compared as bytecode, which differs between versions."""

    @classmethod
    def of(cls, position: Position, person: tuple[int, ...], **settings: Any) -> GameRecord:
        """Return the record of a position that was reached from the start of its game."""
        game = position.game
        return cls(game.source or game.name, game.digest, position.actions, person, **settings)

    def position(self, game: str | Game | None = None) -> Position:
        """Replay the actions and return the last position. A game that is not bundled must be passed."""
        known = self._find(game)
        if self.rules != known.digest:
            other = self.python != platform.python_version()
            hint = f" (it was saved under Python {self.python}, and rules are compared as bytecode)" if other else ""
            raise SaveError(
                f"the rules of {self.game} in the file differ from those of {known.source or known.name}: "
                f"they have changed since it was saved, or it is another game{hint}"
            )
        if any(player not in range(known.facts.players) for player in self.person):
            raise SaveError(
                f"damaged: the players of {known.name} are 0 to {known.facts.players - 1}, "
                f"but `person` is {list(self.person)}"
            )
        position = Position.start(known, None if self.deal is None else Rng(self.deal))
        for number, action in enumerate(self.actions, start=1):
            try:
                position = position.apply(action)
            except IllegalMoveError as error:
                raise SaveError(f"damaged: move {number} of {len(self.actions)}: {error}") from error
        return position

    def _find(self, given: str | Game | None) -> Game:
        if given is not None:
            return load_game(given)
        try:
            return load_bundled(self.game)
        except (UnknownGameError, GameDefinitionError) as error:
            raise SaveError(
                f"{shorten(self.game)} is not a bundled game: pass the game too, as game=... or on the command line "
                f"as `treetop play GAME --resume FILE` ({error})"
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the file."""
        return {"kind": KIND, "version": VERSION, **dataclasses.asdict(self)}


def save_game(path: str | Path, record: GameRecord) -> None:
    """Write a game to a file. A crash leaves either the old file or the new one."""
    with replacing(Path(path)) as file:
        file.write((json.dumps(record.to_dict()) + "\n").encode())


def load_game_record(path: str | Path, *, game: str | Game | None = None) -> GameRecord:
    """Load a game from a file. Damaged files, other formats, changed rules and illegal moves raise a `SaveError`.

    A game that is not bundled must be passed.
    """
    path = Path(path)
    record = _record(path, _read(path))
    try:
        record.position(game)
    except SaveError as error:
        raise SaveError(f"{path}: {error}") from error
    return record


def _read(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_bytes(path), infinite=True)
    except SaveError:
        raise
    except ValueError as error:
        raise SaveError(f"{path} is damaged, or was not written by Treetop: {error}") from error
    if not isinstance(content, dict) or "kind" not in content:
        raise SaveError(f"{path} was not written by Treetop")
    if content["kind"] != KIND:
        raise SaveError(f"{path} holds {content['kind']}, not {KIND}")
    if content.get("version") != VERSION:
        raise SaveError(f"{path} is of version {content.get('version')}; this Treetop reads version {VERSION}")
    return content


def _record(path: Path, content: dict[str, Any]) -> GameRecord:
    fields = {"deal": None, **{key: value for key, value in content.items() if key not in ("kind", "version")}}
    names = [field.name for field in dataclasses.fields(GameRecord)]
    wrong = [f"it lacks {name}" for name in names if name not in fields] + [
        f"{name} is unknown" for name in fields if name not in names
    ]
    if wrong:
        raise SaveError(f"{path} is damaged: {', '.join(wrong)}")
    good = {
        "game": _is_text,
        "rules": _is_text,
        "actions": _is_history,
        "person": _is_list,
        "rule": _is_text,
        "c": _is_number_or_none,
        "simulations": _is_whole_or_none,
        "seconds": _is_number_or_none,
        "seed": is_whole,
        "deal": _is_whole_or_none,
        "python": _is_text,
    }
    for name, check in good.items():
        if not check(fields[name]):
            raise SaveError(f"{path} is damaged: {name} is {fields[name]!r}")
    actions = tuple(tuple(action) if isinstance(action, list) else action for action in fields["actions"])
    return GameRecord(**{**fields, "actions": actions, "person": tuple(fields["person"])})


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(map(is_whole, value))


def _is_history(value: object) -> bool:
    return isinstance(value, list) and all(is_whole(entry) or _is_numbers(entry) for entry in value)


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(is_number, value))


def _is_whole_or_none(value: object) -> bool:
    return value is None or is_whole(value)


def _is_number_or_none(value: object) -> bool:
    return value is None or is_number(value)
