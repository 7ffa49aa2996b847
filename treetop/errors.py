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
    """The base class of all errors that Treetop raises on purpose.

    >>> import treetop as tt
    >>> try:
    ...     tt.load_game("no_such_game")
    ... except tt.TreetopError as error:
    ...     type(error).__name__
    'UnknownGameError'
    """


class GameError(TreetopError):
    """A game broke its contract while it was played; the text shows the position.

    >>> import treetop as tt
    >>> tt.position("nim(stones=3)").rewards
    Traceback (most recent call last):
    treetop.errors.GameError: there are no final rewards yet: the game is not over
    ||| 3 left, player 0 to move
    """


class GameDefinitionError(GameError, ValueError):
    """A class or a family that cannot be a game as it is written.

    >>> import treetop as tt
    >>> @tt.game(players=2, num_actions=3, max_length=5)  # doctest: +ELLIPSIS
    ... class Empty:
    ...     pass
    Traceback (most recent call last):
    treetop.errors.GameDefinitionError: Empty has no field: declare at least one...
    """


class MethodError(GameError):
    """A compiled method of a game raised an exception, which is the cause of this error.

    >>> import treetop as tt
    >>> issubclass(tt.errors.MethodError, tt.errors.GameError)
    True
    """


class CompileError(GameError):
    """A method uses something that cannot be compiled; the text shows the line of the user's code.

    >>> import treetop as tt
    >>> @tt.game(players=2, num_actions=3, max_length=21)
    ... class WithFile(tt.load_game("nim")):
    ...     def is_terminal(self): return self.heap == 0 or (self.heap > 99 and open("heap"))
    >>> tt.perft(WithFile, 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.errors.CompileError: WithFile.is_terminal cannot be compiled: the global `open` has a type that ...
    """


class ConformanceError(GameError):
    """`treetop.check` found a violated rule; the text has a short list of moves that shows it.

    >>> import treetop as tt
    >>> @tt.game(players=2, num_actions=3, max_length=21)
    ... class NoMoves(tt.load_game("nim")):
    ...     def legal_actions(self, out): return 0
    >>> tt.check(NoMoves)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.errors.ConformanceError: NoMoves violates a requirement: legal actions are in range, at least one ...
    """


class UnknownGameError(TreetopError, ValueError):
    """There is no game of that name or with those parameters.

    >>> import treetop as tt
    >>> tt.load_game("nim(stones=0)")
    Traceback (most recent call last):
    treetop.errors.UnknownGameError: stones must be a whole number from 1 to 10,000, not 0
    """


class IllegalMoveError(TreetopError, ValueError):
    """A move or an action that is not legal in the position.

    >>> import treetop as tt
    >>> tt.position("nim(stones=3)").play("9")
    Traceback (most recent call last):
    treetop.errors.IllegalMoveError: '9' is not a legal move here; the legal moves are 1, 2, 3
    ||| 3 left, player 0 to move
    """


class ConfigError(TreetopError, ValueError):
    """An option that is unknown, out of range or contradicts another.

    >>> import treetop as tt
    >>> tt.uct(c=-1)
    Traceback (most recent call last):
    treetop.errors.ConfigError: c must be a number of at least 0.0, not -1
    """


class TerminalPositionError(TreetopError, ValueError):
    """The game is over: there is no move to search for.

    >>> import treetop as tt
    >>> tt.search(tt.position("nim(stones=1)", moves="1"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.errors.TerminalPositionError: the game is over: there is nothing to search...
    """


class SearchError(TreetopError):
    """A call that does not fit the present state of a search.

    >>> import treetop as tt
    >>> search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), seed=1)
    >>> batch = search.ask(1)
    >>> search.drop(batch)
    >>> search.drop(batch)
    Traceback (most recent call last):
    treetop.errors.SearchError: this batch was absorbed or dropped before: ask for a new one
    """


class StaleNodeError(SearchError):
    """A node of a tree that was re-rooted, folded or loaded since.

    >>> import treetop as tt
    >>> search = tt.Search("nim(stones=5)", seed=1)
    >>> result = search.run(tt.Limit(simulations=100))
    >>> node = search.tree.root
    >>> search.advance(result.action)
    >>> node.visits  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.errors.StaleNodeError: node 0 belongs to an earlier state of its tree; ...
    """


class EvaluationError(TreetopError):
    """For evaluators to raise: there is no answer, but the attempt had a cost. The call is tried again, or its node
    fails.

    >>> import treetop as tt
    >>> def judge(state, actions):
    ...     raise tt.errors.EvaluationError("no answer in time", cost=0.5)
    >>> try:
    ...     judge("a state", ["left", "right"])
    ... except tt.errors.EvaluationError as error:
    ...     str(error), error.cost
    ('no answer in time', 0.5)
    """

    def __init__(self, text: str, *, cost: float = 0.0, note: Any = None) -> None:
        super().__init__(text)
        if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0.0 <= cost < math.inf:
            raise ConfigError(f"cost must be a finite number of at least 0, not {cost!r}")
        self.cost = float(cost)
        self.note = json_value(note)
        """A note on the attempt for the record."""


class PlayerError(TreetopError):
    """A player gave no move: an engine hung, died or broke the protocol. A match counts it as a forfeit.

    >>> import treetop as tt
    >>> tt.players.UciPlayer(tt.load_game("breakthrough"), "no-such-engine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.errors.PlayerError: the program 'no-such-engine' is not installed: ...
    """


class ProverError(TreetopError):
    """A proof assistant is not installed, does not answer, or refuses the file before the lemma. A failed tactic is no
    error.

    >>> import treetop as tt
    >>> try:
    ...     tt.prove("p ->")
    ... except tt.errors.ProverError as error:
    ...     type(error).__name__
    'FormulaError'
    """


class ProofFileError(ProverError, ValueError):
    """A file for a proof assistant that cannot be read, parsed or compiled; the text names the file and the line.

    >>> import treetop as tt
    >>> tt.prove.CoqTheorem("no_such_file.v", "lemma")
    Traceback (most recent call last):
    treetop.errors.ProofFileError: no_such_file.v cannot be read: No such file or directory
    """


class FormulaError(ProverError, ValueError):
    """A text that is not a formula, or a problem file that cannot be read; the text shows the place.

    >>> import treetop as tt
    >>> tt.prove("p ->")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.errors.FormulaError: a formula was expected after '->' (column 5)
    ...
    """

    def __init__(self, *args: object, position: int | None = None) -> None:
        super().__init__(*args)
        self.position = position
        """The index in the text at which it is wrong, if there is one."""


class SaveError(TreetopError, ValueError):
    """A file that is damaged, has another format, or was made for another game.

    >>> import treetop as tt
    >>> tt.Search.load(tt.__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.errors.SaveError: ...__init__.py is damaged, or was not written by Treetop: ...
    """


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
