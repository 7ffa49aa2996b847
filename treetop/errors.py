"""All errors that Treetop raises on purpose.

::

    TreetopError
    ├── GameError                   a game broke its contract while it was played
    │   ├── GameDefinitionError     ... or already where it is written (also a ValueError)
    │   ├── MethodError             ... by an exception in compiled code
    │   ├── CompileError            ... or it uses something that cannot be compiled
    │   └── ConformanceError        ... or `treetop.check` found a violated rule
    ├── UnknownGameError            no game of that name or with those parameters (also a ValueError)
    ├── IllegalMoveError            a move or an action that is not legal in the position (also a ValueError)
    ├── ConfigError                 an option out of its range (also a ValueError)
    ├── TerminalPositionError       nothing to search: the game is over (also a ValueError)
    ├── SearchError                 a call that does not fit the search's present state
    │   └── StaleNodeError          a node of a tree that has changed since
    ├── EvaluationError             for evaluators to raise: no answer, and the cost of the attempt
    ├── PlayerError                 a player in a match failed: hung, died, or broke the protocol (a forfeit)
    ├── ProverError                 a proof assistant that is missing, cannot be started, or refuses its file
    │   ├── ProofFileError          ... or the file cannot be read or does not compile (also a ValueError)
    │   └── FormulaError            ... or the text to prove is not a formula (also a ValueError)
    ├── SaveError                   a file that cannot be read, or belongs to something else (also a ValueError)
    └── MissingExtraError           an optional package is not installed (also an ImportError)

Each of them is a `TreetopError`:

>>> import treetop as tt
>>> try:
...     tt.position("nim").play("9")
... except tt.errors.IllegalMoveError as error:
...     isinstance(error, tt.TreetopError) and isinstance(error, ValueError)
True
"""

from __future__ import annotations

import json
import math
from typing import Any


class TreetopError(Exception):
    """The base class of all errors that Treetop raises on purpose."""


class GameError(TreetopError):
    """A game broke its contract while it was played; the text shows the position."""


class GameDefinitionError(GameError, ValueError):
    """A class or a family that cannot be a game as it is written."""


class MethodError(GameError):
    """A compiled method of a game raised an exception, which is the cause of this error."""


class CompileError(GameError):
    """A method uses something that cannot be compiled; the text shows the line of the user's code."""


class ConformanceError(GameError):
    """`treetop.check` found a violated rule; the text has the shortest list of moves that shows it."""


class UnknownGameError(TreetopError, ValueError):
    """There is no game of that name or with those parameters."""


class IllegalMoveError(TreetopError, ValueError):
    """A move or an action that is not legal in the position."""


class ConfigError(TreetopError, ValueError):
    """An option that is unknown, out of range or contradicts another."""


class TerminalPositionError(TreetopError, ValueError):
    """The game is over: there is no move to search for."""


class SearchError(TreetopError):
    """A call that does not fit the present state of a search."""


class StaleNodeError(SearchError):
    """A node of a tree that was re-rooted, folded or loaded since."""


class EvaluationError(TreetopError):
    """For evaluators to raise: there is no answer, but the attempt had a cost. The call is tried again, or its node
    fails.
    """

    def __init__(self, text: str, *, cost: float = 0.0, note: Any = None) -> None:
        super().__init__(text)
        if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0.0 <= cost < math.inf:
            raise ConfigError(f"cost must be a finite number of at least 0, not {cost!r}")
        self.cost = float(cost)
        self.note = json_value(note)
        """A note on the attempt for the record."""


class PlayerError(TreetopError):
    """A player gave no move: an engine hung, died or broke the protocol. A match counts it as a forfeit."""


class ProverError(TreetopError):
    """A proof assistant is not installed, does not answer, or refuses the file before the lemma. A failed tactic is no
    error.
    """


class ProofFileError(ProverError, ValueError):
    """A file for a proof assistant that cannot be read, parsed or compiled; the text names the file and the line."""


class FormulaError(ProverError, ValueError):
    """A text that is not a formula, or a problem file that cannot be read; the text shows the place."""


class SaveError(TreetopError, ValueError):
    """A file that is damaged, has another format, or was made for another game."""


class MissingExtraError(TreetopError, ImportError):
    """An optional package is missing; the text says which extra of Treetop installs it, and how.

    >>> raise MissingExtraError("plots need Matplotlib", extra="plot")
    Traceback (most recent call last):
    treetop.errors.MissingExtraError: plots need Matplotlib: run `pip install -e ".[plot]"` in Treetop's repository
    """

    def __init__(self, text: str, *, extra: str | None = None) -> None:
        # A text without an extra is complete: that is how an error comes back from another process.
        super().__init__(f'{text}: run `pip install -e ".[{extra}]"` in Treetop\'s repository' if extra else text)


def json_value(note: Any) -> Any:
    """Return a value as it will be read back from JSON. Raise ConfigError if JSON cannot hold it."""
    try:
        return json.loads(json.dumps(note, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"note must be a value that JSON can hold, not {note!r}: {error}") from error
