"""GNU Backgammon as a player: the program in text mode is given one position after the other, and lists its moves.

It plays whole turns and we play single moves. So the board at the end of its turn is looked up among those that our
rules allow, and the moves that lead there are played one by one. A turn that our rules do not know is an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from treetop import checks
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, PlayerError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.engine import EnginePlayer
from treetop.players.line_process import LineProcess

Board = tuple[tuple[int, ...], tuple[int, ...]]
"""The checkers of the player to move and of the other one, each by its own points: 25 is the bar, 0 is off the
board.
"""

LEVELS = {
    "beginner": (0, 0.06),
    "casual": (0, 0.05),
    "intermediate": (0, 0.04),
    "advanced": (0, 0.015),
    "expert": (0, 0.0),
    "world class": (2, 0.0),
}
"""The program's own names of its levels: plies of lookahead, and the noise in its evaluation."""

_BAR, _OFF, _CHECKERS = 25, 0, 15
_ARGUMENTS = ("-t", "-q", "-r")  # a text terminal, no sounds, no personal settings
_MOST_PLIES = 4
_ALL_MOVES = 10_000
_HINT = re.compile(r"\s*\d+\. Cubeless \d+-ply\s+(\S.*?)\s*Eq\.:")
_PART = re.compile(r"(bar|\d+)((?:/(?:off|\d+\*?))+)(?:\((\d)\))?")
_SETTINGS = (
    "set lang C",
    "set automatic game off",
    "set automatic roll off",
    "set automatic move off",
    "set automatic bearoff off",
    "set automatic doubles 0",
    "set confirm new off",
    "set cube use off",
    "set jacoby off",
    "set output rawboard on",
    "set output mwc off",
    "set player 0 human",
    "set player 1 human",
    "set evaluation chequerplay type evaluation",
    "set evaluation chequerplay evaluation cubeful off",
    "set evaluation chequerplay evaluation deterministic on",
)


class GnubgEngine:
    """The program itself, as texts and boards. It knows nothing about our games."""

    def __init__(
        self, command: Sequence[str], *, plies: int, noise: float, gammons: bool, start_deadline: float, deadline: float
    ) -> None:
        self.process = LineProcess([*command, *_ARGUMENTS])
        self._deadline = deadline
        self._start_deadline = start_deadline
        self._number = 0
        settings = (
            f"set evaluation chequerplay evaluation plies {plies}",
            f"set evaluation chequerplay evaluation noise {noise:g}",
        )
        # Gammons count in a money session without the Jacoby rule, and do not in a match to one point.
        for line in (*_SETTINGS, *settings, "new session" if gammons else "new match 1"):
            self.order(line)

    def order(self, command: str) -> None:
        """Send a setting, which the program confirms; if it does not, it has refused it and written the reason to
        stderr.
        """
        if not any(line.strip() for line in self.ask([command], self._start_deadline)):
            raise self.process.failure(f"refused {command!r}")

    def ask(self, commands: Sequence[str], seconds: float) -> list[str]:
        """Send commands and return the output until they are done."""
        self._number += 1
        done = f"done-{self._number}"
        for command in (
            *commands,
            f"set prompt {done}",
        ):  # it confirms this with the text itself; there is no prompt without a terminal
            self.process.send(command)
        said: list[str] = []
        for line in self.process.lines(seconds, f"answer to {commands[-1]!r}"):
            if f"`{done}'" in line:
                break
            said.append(line)
        return said

    def ranked_moves(self, board: Board, dice: tuple[int, int]) -> list[str]:
        """Return all moves with these dice as the program writes them, from the best to the worst; empty if there is
        none.
        """
        own, others = board
        points = [own[point] - others[25 - point] for point in range(1, 25)]
        command = f"set board simple {' '.join(map(str, (own[_BAR], *points, -others[_BAR])))}"
        said = self.ask(
            ["set turn 1", command, f"set dice {dice[0]} {dice[1]}", "show board", f"hint {_ALL_MOVES}"], self._deadline
        )
        shown = [line.split(":") for line in said if line.startswith("board:")]
        # A board that it refuses leaves the last one as it was, without a message.
        if (
            not shown
            or shown[-1][6:32] != [str(count) for count in (-others[_BAR], *points, own[_BAR])]
            or shown[-1][33:35] != [str(die) for die in dice]
        ):
            raise self.process.failure(
                f"does not show the board and the dice {dice[0]} {dice[1]} that were sent: {command!r}"
            )
        moves = [found[1] for found in map(_HINT.match, said) if found]
        if not moves and not any("no legal moves" in line for line in said):
            raise self.process.failure(
                f"lists no moves and does not say that there are none, for {command!r} and the dice {dice[0]} {dice[1]}"
            )
        return moves

    def close(self) -> None:
        """End the program."""
        self.process.close("exit")


def board_after(board: Board, move: str) -> Board:
    """Return the board after a turn as GNU Backgammon writes it, such as `bar/21*(2) 8/4`, seen from the same side.

    >>> home = (15, *[0] * 25)
    >>> board_after(((13, 1, 1, *[0] * 23), home), "2/off 1/off")[0][:3]
    (15, 0, 0)
    """
    own, others = list(board[0]), list(board[1])
    for part in move.split():
        found = _PART.fullmatch(part)
        if found is None:
            raise PlayerError(
                f"{move!r} cannot be read as a move of backgammon: "
                f"{part!r} is not the path of a checker, such as 13/7* or 8/4(2)"
            )
        start = _BAR if found[1] == "bar" else int(found[1])
        stops = found[2].strip("/").split("/")
        ends = [_OFF if stop == "off" else int(stop.rstrip("*")) for stop in stops]
        times = int(found[3] or 1)
        if not all(_OFF <= point <= _BAR for point in (start, *ends)) or own[start] < times:
            raise PlayerError(
                f"{move!r} is not a legal move here: {part!r} has no checker to move, or leaves the board"
            )
        own[start] -= times
        own[ends[-1]] += times
        for stop, end in zip(stops, ends, strict=True):
            if stop.endswith("*"):
                others[_BAR] += others[25 - end]
                others[25 - end] = 0
    return tuple(own), tuple(others)


def board_of(position: Position) -> Board:
    """Return the checkers of a position of backgammon, those of the player to move first."""
    return _board(position.record, int(position.state.player))


def turns_of(position: Position) -> dict[Board, tuple[int, ...]]:
    """Return every board that the rest of this turn can end with, seen by its player, and actions that lead to it."""
    player, game = position.player, position.game
    found: dict[Board, tuple[int, ...]] = {}
    seen = {position.record.tobytes()}
    waiting: list[tuple[Any, tuple[int, ...]]] = [(position.record, ())]
    while waiting:
        record, actions = waiting.pop()
        for action in Position(game, record).legal_actions():
            state = game.view(record.copy(), 0)
            state.apply(action)
            after = (*actions, action)
            if state.is_terminal() or state.current_player() != player:
                found.setdefault(_board(state._states, player), after)
            elif state._states.tobytes() not in seen:
                seen.add(state._states.tobytes())
                waiting.append((state._states, after))
    return found


class GnubgPlayer(EnginePlayer[GnubgEngine]):
    """GNU Backgammon. Before its first game its rules are compared with ours in some random positions.

    `level` is one of its own levels; or `plies` and `noise` set how far it looks ahead and how large its errors are.
    The noise belongs to a position, so it plays the same in the same position.
    """

    def __init__(
        self,
        game: Game,
        *,
        level: str | None = None,
        plies: int | None = None,
        noise: float | None = None,
        check: int = 20,
        command: str = "gnubg",
        deadline: float = 60.0,
        start_deadline: float = 15.0,
        name: str = "gnubg",
    ) -> None:
        super().__init__(game, command, name, deadline, start_deadline)
        self._plies, self._noise = _strength(level, plies, noise)
        self._gammons = game.facts.rewards[1] > 1
        self._check = checks.whole("check", check, 0, 10_000)
        self._plan: dict[Position, int] = {}

    def _check_game(self, game: Game) -> None:
        if game.name.partition("(")[0] != "backgammon":
            raise ConfigError(f"gnubg plays only backgammon, not {game.name}")

    def _check_start(self, start: Position) -> None:
        """Accept any position: each is sent as it is."""

    def _start(self) -> GnubgEngine:
        return GnubgEngine(self._command, plies=self._plies, noise=self._noise, gammons=self._gammons,
                           start_deadline=self._start_deadline, deadline=self._deadline)  # fmt: skip

    def _set_up(self, engine: GnubgEngine) -> None:
        for position in random_turns(self.game, self._check):
            compare_turns(engine, position)

    def _new_game(self, engine: GnubgEngine, start: Position) -> None:  # noqa: ARG002 - each position is shown as it is
        self._plan = {}

    def _decide(self, engine: GnubgEngine, position: Position) -> int:
        if position not in self._plan:
            self._plan = {}
            ahead = position
            for action in self._turn(engine, position):
                self._plan[ahead] = action
                ahead = ahead.apply(action)
        return self._plan[position]

    def _turn(self, engine: GnubgEngine, position: Position) -> tuple[int, ...]:
        """Return the actions of the program's best turn, or of the best one that is still possible if the turn was
        partly played.
        """
        start = _turn_start(position)
        board, possible = board_of(start), turns_of(position)
        moves = engine.ranked_moves(board, _dice(start))
        for move in moves:
            actions = possible.get(_read(engine, start, move))
            if actions is not None:
                return actions
            if start == position:
                raise engine.process.failure(f"played an illegal move: {move!r} is not a turn of\n{position}")
        raise engine.process.failure(f"has no move where there is one: it plays by other rules, in\n{position}")


def random_turns(game: Game, count: int, seed: int = 0) -> list[Position]:
    """Yield beginnings of turns, from random games."""
    rng = Rng(seed)
    found: list[Position] = []
    position = Position(game).resolve_chance(rng)
    while len(found) < count:
        if _is_turn_start(position) and rng.below(4) == 0:
            found.append(position)
        legal = position.legal_actions()
        position = position.apply(legal[int(rng.below(len(legal)))]).resolve_chance(rng)
        if position.is_terminal:
            position = Position(game).resolve_chance(rng)
    return found


def compare_turns(engine: GnubgEngine, position: Position) -> int:
    """Return how many boards a turn can end with. Raise an error if the program's boards are not the same as ours."""
    start = _turn_start(position)
    listed = [_read(engine, start, move) for move in engine.ranked_moves(board_of(start), _dice(start))]
    theirs, ours = set(listed), set(turns_of(start))
    if theirs != ours or len(listed) != len(theirs):
        raise engine.process.failure(
            f"plays by other rules than {start.game.name}: it lists {len(listed)} moves to {len(theirs)} boards, and "
            f"we know {len(ours)}, of which {len(theirs & ours)} are the same, in\n{start}"
        )
    return len(ours)


def _read(engine: GnubgEngine, position: Position, move: str) -> Board:
    try:
        return board_after(board_of(position), move)
    except PlayerError as error:
        raise engine.process.failure(f"played an illegal move: {error}\n{position}") from None


def _board(record: Any, player: int) -> Board:
    sides = record["checkers"][0].tolist()
    return tuple(sides[player]), tuple(sides[1 - player])


def _dice(position: Position) -> tuple[int, int]:
    state = position.state
    return int(state.high), int(state.low)


def _is_turn_start(position: Position) -> bool:
    """Return whether a turn begins here: the dice are rolled, and none of them is used."""
    state = position.state
    return int(state.high_left + state.low_left) == (4 if state.high == state.low else 2)


def _turn_start(position: Position) -> Position:
    """Return the position where the turn of a position began: moves are evaluated as whole turns."""
    for back in range(min(4, len(position.actions) + 1)):
        earlier = position if back == 0 else Position(position.game, position.start).play(position.actions[:-back])
        if earlier.player != position.player:
            break
        if _is_turn_start(earlier):
            return earlier
    raise PlayerError(f"gnubg plays whole turns, and this is the rest of a turn whose beginning is unknown\n{position}")


def _strength(level: Any, plies: Any, noise: Any) -> tuple[int, float]:
    if level is not None:
        if plies is not None or noise is not None:
            raise ConfigError("gnubg takes a level, or plies and noise, not both")
        return LEVELS[checks.one_of("level", level, LEVELS)]
    plies, noise = 0 if plies is None else plies, 0.0 if noise is None else noise
    return checks.whole("plies", plies, 0, _MOST_PLIES), checks.number("noise", noise, 0)
