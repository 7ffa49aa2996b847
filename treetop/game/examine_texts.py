"""Checks of the methods for people: names of moves, and texts that show a position."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from treetop.checks import shorten
from treetop.errors import ConfigError
from treetop.game.boards import Picture
from treetop.game.contract import ContractError, guard
from treetop.game.moves import JOINT, naming_method
from treetop.game.position import Position

if TYPE_CHECKING:
    from treetop.game.examiner import Examiner

_READ_BACK = 12  # the number of moves of one position that are parsed and applied


def examine_texts(examiner: Examiner, position: Position) -> None:
    """Call every method that shows a position to people, and check the kinds of their values."""
    game = examiner.game
    if game.has("render"):
        _text(position, "render")
    if game.has("render_for"):
        for player in range(game.facts.players):
            _text(position, "render_for", player)
    if game.has("setup_text"):
        _setup(position)
    if game.has("board"):
        _board(position, "board")
    if game.has("board_for"):
        for player in range(game.facts.players):
            _board(position, "board_for", player)
    if game.has("summary"):
        numbers = guard("summary", position.state.summary)
        if not isinstance(numbers, dict):
            raise ContractError("returns", f"summary returned {shorten(numbers)}; it must return a dict", "summary")
    if not game.has("render") and not game.has("board"):
        guard("__repr__", lambda: repr(position.state))


def _board(position: Position, method: str, *arguments: Any) -> None:
    given = guard(method, functools.partial(getattr(position.state, method), *arguments))
    try:
        Picture.of(given)
    except ConfigError as error:
        raise ContractError("returns", f"{method} is wrong: {error}", method) from None


def _setup(position: Position) -> None:
    """Check that `parse` reads what `setup_text` writes, as far as a line shows a position: without the history."""
    text = _text(position, "setup_text")
    if len(text.splitlines()) != 1:
        raise ContractError("returns", f"setup_text returned {shorten(text)}; it must return one line", "setup_text")
    if position.is_terminal or not position.game.has("parse"):
        return
    back = guard("parse", functools.partial(Position.parse, position.game, text))
    again = _text(back, "setup_text")
    if again != text:
        raise ContractError("names", f"setup_text returned {text!r}, which parse reads as {again!r}", "parse")


def _text(position: Position, method: str, *arguments: Any) -> str:
    text = guard(method, functools.partial(getattr(position.state, method), *arguments))
    if not isinstance(text, str):
        raise ContractError("returns", f"{method} returned {shorten(text)}; it must return a text", method)
    return text


def examine_names(examiner: Examiner, position: Position, legal: list[int], player: int | None) -> None:
    """Check the names of all legal actions, and parse and apply some of them.

    With simultaneous moves, `player` is the one whose actions they are.
    """
    method = naming_method(position)
    what = "outcome" if method == "outcome_text" else "move"
    names = {action: str(action) if method is None else _text(position, method, action) for action in legal}
    _refuse_names(names, what, method or "move_text", player)
    step = max(1, len(legal) // _READ_BACK)
    for action in legal[examiner.named % step :: step]:
        if examiner.compiled or examiner.game.has("parse_move"):
            back = guard("parse_move", functools.partial(position.parse_move, names[action], player))
            if back != action:
                raise ContractError(
                    "names",
                    f"the {what} {action} has the name {names[action]!r}, which parse_move reads as {back}",
                    "parse_move",
                )
        if player is None:
            guard(f"apply({action})", functools.partial(position.state.apply, action))


def _refuse_names(names: dict[int, str], what: str, method: str, player: int | None) -> None:
    refused = " \t\n,;" + (JOINT if player is not None else "")
    known: dict[str, int] = {}
    for action, name in names.items():
        if not name or any(letter in name for letter in refused):
            slash = ", nor a slash in positions with simultaneous moves" if player is not None else ""
            raise ContractError(
                "names",
                f"the {what} {action} has the name {name!r}: a name must not be empty and must not contain a blank, "
                f"comma or semicolon{slash}",
                method,
            )
        if known.setdefault(name, action) != action:
            raise ContractError(
                "names",
                f"the {what}s {known[name]} and {action} have the same name {name!r}; names must differ",
                method,
            )
