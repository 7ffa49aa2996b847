"""Every error that Treetop raises on purpose, in one tree.

::

    TreetopError
    ├── GameError                   a game broke a promise while it was played
    │   ├── GameDefinitionError     ... or already where it is written (also a ValueError)
    │   ├── MethodError             ... by an exception in compiled code
    │   ├── CompileError            ... or it uses what cannot be compiled
    │   └── ConformanceError        ... or `treetop.check` found a rule that does not hold
    ├── UnknownGameError            no game of that name or with those parameters (also a ValueError)
    ├── IllegalMoveError            a move or an action that the position does not allow (also a ValueError)
    ├── ConfigError                 an option out of its range (also a ValueError)
    ├── TerminalPositionError       nothing to search: the game is over (also a ValueError)
    ├── SearchError                 a call that does not fit the search's present state
    │   └── StaleNodeError          a node of a tree that has moved on
    ├── EvaluationError             for evaluators to raise: no answer, and what the attempt cost all the same
    ├── PlayerError                 a player in a match failed: hung, died, or broke the protocol; the match records a forfeit
    ├── ProverError                 a proof assistant that is missing, cannot be started, or refuses the file it was given
    │   ├── ProofFileError          ... or the file itself cannot be read or does not compile (also a ValueError)
    │   └── FormulaError            ... or the text that shall be proved is no formula (also a ValueError)
    ├── SaveError                   a file that cannot be read, or belongs to something else (also a ValueError)
    └── MissingExtraError           an optional package is not installed (also an ImportError)
"""

from __future__ import annotations

import json
import math
from typing import Any


class TreetopError(Exception):
    """The root of all errors that Treetop raises on purpose."""


class GameError(TreetopError):
    """A game broke a promise while it was played; the text shows the position."""


class GameDefinitionError(GameError, ValueError):
    """A class or a family that cannot be a game as it is written."""


class MethodError(GameError):
    """A compiled method of a game raised an exception, which is the cause of this one."""


class CompileError(GameError):
    """A method uses what cannot be compiled; the text shows the user's own line."""


class ConformanceError(GameError):
    """`treetop.check` found a rule that does not hold; the text carries the shortest move list."""


class UnknownGameError(TreetopError, ValueError):
    """No game of that name, or not with those parameters."""


class IllegalMoveError(TreetopError, ValueError):
    """A move's text or an action that the position does not allow."""


class ConfigError(TreetopError, ValueError):
    """An option that is unknown, out of range or contradicts another."""


class TerminalPositionError(TreetopError, ValueError):
    """The game is over: there is no move to search for."""


class SearchError(TreetopError):
    """A call that does not fit the present state of a search."""


class StaleNodeError(SearchError):
    """A node handle that outlived its tree: the tree was re-rooted, folded or loaded since."""


class EvaluationError(TreetopError):
    """An evaluator has no answer, and says what the attempt cost all the same: the call is tried again, or its node is dead."""

    def __init__(self, text: str, *, cost: float = 0.0, note: Any = None) -> None:
        super().__init__(text)
        if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0.0 <= cost < math.inf:
            raise ConfigError(f"a cost is a finite number of at least 0, not {cost!r}")
        self.cost = float(cost)
        self.note = plain(note)
        """What a record shall remember of the attempt."""


class PlayerError(TreetopError):
    """A player could not give a move: an engine that hung, died or spoke nonsense. A match counts it as a forfeit."""


class ProverError(TreetopError):
    """A proof assistant is not installed, does not answer, or refuses the file before the lemma. A tactic that fails is no error."""


class ProofFileError(ProverError, ValueError):
    """A file for a proof assistant that cannot be read, cannot be parsed or does not compile; the text names the file and the line."""


class FormulaError(ProverError, ValueError):
    """A text that is no formula, or a problem file that cannot be read; the text shows the place."""


class SaveError(TreetopError, ValueError):
    """A save file that is damaged, foreign, or made for another game."""


class MissingExtraError(TreetopError, ImportError):
    """An optional package is missing; the text says how to install it."""


def plain(note: Any) -> Any:
    """A note as JSON holds it, so that it is the same after it was written down and read."""
    try:
        return json.loads(json.dumps(note, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"a note is whatever JSON can hold, not {note!r}: {error}") from error
