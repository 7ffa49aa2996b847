"""The conformance check: thousands of random games, interpreted and compiled with bounds checks side by side.

It finds what games get wrong, and tells it with the shortest move list that it can find and the user's own line.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from treetop.compiler.rng import Rng, mix
from treetop.errors import ConfigError, ConformanceError, TreetopError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.game.probe import FINDINGS, begin, probe, step
from treetop.game.registry import load_game

_CLOSE_LOOKS = 4_000  # positions in which the slow, interpreted lists are compared too
_NAMED_LOOKS = 200  # ... and in which moves are named, read back and applied
_SHORTEST_BUDGET = 2_000  # positions that the hunt for the shortest failing game may look at
_READ_BACK = 12  # moves of one position that are read back and applied
_DRAWS_PER_MOVE = 40


@dataclass(frozen=True)
class CheckReport:
    """What was played, and what held in all of it."""

    game: str
    games: int
    moves: int
    longest: int
    promises: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        held = "\n".join(f"  {promise}" for promise in self.promises)
        return f"{self.game} keeps its promises: {self.games:,} games, {self.moves:,} moves, the longest of {self.longest}\n{held}"


class _BrokenError(Exception):
    """A promise that did not hold, with the position where it was seen."""

    def __init__(self, promise: str, detail: str, method: str, line: str = "") -> None:
        super().__init__(detail)
        self.promise, self.detail, self.method, self.line = promise, detail, method, line


_PROMISES = {
    "same": "interpreted and compiled rules agree: states, players, actions, rewards, keys, random moves",
    "pure": "asking a state changes nothing in it",
    "player": "the player to move is one of the players",
    "actions": "legal actions are in range, at least one and each only once, and all of them can be applied",
    "length": "no game is longer than max_length",
    "rewards": "rewards are finite, within the range, and add up to zero where that is said",
    "random": "random_action is legal, and every legal action has its chance",
    "key": "equal keys have equal players, actions and successors",
    "names": "moves have names of their own, without blanks, that can be read back; positions print",
    "works": "no method fails",
}


def check(
    game: str | Game | Family[...], *, games: int = 2000, seed: int = 0, progress: Callable[[int, int], object] | None = None
) -> CheckReport:
    """Play random games in both modes and raise a `ConformanceError` for the first promise that does not hold.

    `progress` is called now and then with the games done and to do.
    """
    if isinstance(games, bool) or not isinstance(games, int) or games < 1:
        raise ConfigError(f"games must be a whole number of at least 1, not {games!r}")
    return _Checker(load_game(game)).run(games, seed, progress)


@dataclass
class _Checker:
    game: Game
    keys: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    moves: int = 0
    longest: int = 0
    stride: int = 1
    named: int = 0
    drawn: bool = False

    def __post_init__(self) -> None:
        facts = self.game.facts
        self.engine = self.game.engine(bounds_checked=True)
        self.states = np.zeros(1, self.game.dtype)
        self.findings = np.zeros(1, FINDINGS)
        self.actions = np.zeros(facts.num_actions, np.int32)
        self.rewards = np.zeros(facts.players)
        self.estimate = np.zeros(facts.players)

    def run(self, games: int, seed: int, progress: Callable[[int, int], object] | None) -> CheckReport:
        for index in range(games):
            played: list[int] = []
            rng = Rng(mix(seed) ^ mix(index + 1))
            try:
                self._play(rng, played)
            except _BrokenError as broken:
                raise ConformanceError(self._told(*self._shortest(played, broken))) from broken.__cause__
            self.moves += len(played)
            self.longest = max(self.longest, len(played))
            if index == min(20, games - 1):
                self.stride = max(1, round(self.moves / (index + 1) * games / _CLOSE_LOOKS))
            if progress is not None and index % 16 == 0:
                progress(index, games)
        if progress is not None:
            progress(games, games)
        kept = [text for name, text in _PROMISES.items() if self._applies(name)]
        return CheckReport(self.game.name, games, self.moves, self.longest, tuple(kept))

    def _applies(self, promise: str) -> bool:
        return self.game.has({"random": "random_action", "key": "key"}.get(promise, "reset"))

    def _play(self, rng: Rng, played: list[int]) -> None:
        """One random game; `played` is filled as it goes, so that a failure leaves its moves."""
        position = self._start()
        while True:
            close = self.stride == 1 or rng.below(self.stride) == 0 or len(played) < 2
            legal = self._look(position, rng, close=close)
            if not legal:
                return
            if len(played) >= self.game.facts.max_length:
                raise _BrokenError("length", f"the game is not over after max_length = {self.game.facts.max_length} moves", "is_terminal")
            action = legal[rng.below(len(legal))]
            played.append(action)
            position = self._step(position, action)

    def _start(self) -> Position:
        position: Position = _guard("reset", lambda: Position(self.game))
        self.states[:] = 0
        _guard("reset", lambda: self.engine.entry(begin)(self.states), compiled=True)
        self._same("reset", self.states.tobytes(), position.record.tobytes(), self._difference(position))
        return position

    def _step(self, position: Position, action: int) -> Position:
        state = position.state
        _guard(f"apply({action})", lambda: state.apply(action))
        self.states[:] = position.record
        _guard(f"apply({action})", lambda: self.engine.entry(step)(self.states, action), compiled=True)
        following = Position(self.game, state._states, (*position.actions, action), position.start)
        self._same("apply", self.states.tobytes(), following.record.tobytes(), self._difference(following))
        return following

    def _difference(self, position: Position) -> str:
        names = [name for name in self.game.fields if not np.array_equal(self.states[0][name], position.record[0][name])]
        return "; ".join(f"{name} is {position.record[0][name]} interpreted and {self.states[0][name]} compiled" for name in names)

    def _look(self, position: Position, rng: Rng, *, close: bool) -> list[int]:
        """Everything that can be seen in one position; its legal actions."""
        self.states[:] = position.record
        before = self.states.tobytes()
        self.findings["rng"] = rng.word
        terminal = bool(_guard("is_terminal", position.state.is_terminal))
        if not terminal:
            self._player(position)
        try:
            self._probe()
        except TreetopError:
            raise
        except Exception as error:
            self._plainly(position, terminal)  # the same failure in plain Python names the line
            raise _BrokenError("works", f"compiled, a method fails: {type(error).__name__}: {error}", "legal_actions") from error
        finding = self.findings[0]
        self._same("is_terminal", bool(finding["terminal"]), terminal)
        if self.states.tobytes() != before:
            raise _BrokenError("pure", f"asking changed the state: {self._difference(position)}", "legal_actions")
        self._key(position)
        if terminal:
            self._rewards(position)
            return []
        self._same("current_player", int(finding["player"]), int(position.state.current_player()))
        legal = self._legal(int(finding["count"]))
        if self.game.has("random_action"):
            self._random(position, rng, legal, int(finding["drawn"]), int(finding["rng"]))
        if close:
            self._close_look(position, legal)
        return legal

    def _probe(self) -> None:
        self.engine.entry(probe)(self.states, self.findings, self.actions, self.rewards, self.estimate)

    def _plainly(self, position: Position, terminal: bool) -> None:
        facts, state = self.game.facts, position.state
        if terminal:
            _guard("rewards", lambda: state.rewards(np.zeros(facts.players)))
        else:
            _guard("legal_actions", lambda: state.legal_actions(np.zeros(facts.num_actions, np.int32)))

    def _player(self, position: Position) -> None:
        player = _guard("current_player", position.state.current_player)
        if not 0 <= player < self.game.facts.players:
            raise _BrokenError("player", f"current_player gave {player}; players are 0 to {self.game.facts.players - 1}", "current_player")

    def _legal(self, count: int) -> list[int]:
        facts = self.game.facts
        if not 1 <= count <= facts.num_actions:
            raise _BrokenError("actions", f"legal_actions gave {count} actions; 1 to num_actions = {facts.num_actions} can be", "legal_actions")
        legal = [int(action) for action in self.actions[:count]]
        strange = [action for action in legal if not 0 <= action < facts.num_actions]
        if strange:
            raise _BrokenError("actions", f"legal_actions gave {strange[0]}; actions are 0 to {facts.num_actions - 1}", "legal_actions")
        if len(set(legal)) < count:
            twice = next(action for action in legal if legal.count(action) > 1)
            raise _BrokenError("actions", f"legal_actions gave {twice} twice", "legal_actions")
        return legal

    def _rewards(self, position: Position) -> None:
        facts = self.game.facts
        out = np.zeros(facts.players)
        state = position.state
        _guard("rewards", lambda: state.rewards(out))
        if state._states.tobytes() != position.record.tobytes():
            raise _BrokenError("pure", "rewards changed the state", "rewards")
        low, high = facts.rewards
        if not np.isfinite(out).all() or out.min() < low or out.max() > high:
            raise _BrokenError("rewards", f"the rewards are {out.tolist()}; they must lie between {low:g} and {high:g}", "rewards")
        self._same("rewards", self.rewards.tolist(), out.tolist())
        if facts.zero_sum and out.sum() != 0:
            raise _BrokenError("rewards", f"the rewards {out.tolist()} do not add up to zero; say zero_sum=False if that is right", "rewards")

    def _key(self, position: Position) -> None:
        if not self.game.has("key"):
            return
        key = int(_guard("key", position.state.key)) & (2**64 - 1)
        compiled = int(self.findings[0]["key"])
        self._same("key", compiled, key)
        finding = self.findings[0]
        about = (bool(finding["terminal"]), int(finding["player"]), tuple(sorted(self.actions[: int(finding["count"])].tolist())))
        if finding["terminal"]:
            about = (*about, tuple(self.rewards.tolist()))  # type: ignore[assignment]
        if len(self.keys) < 1_000_000 and self.keys.setdefault(key, about) != about:
            raise _BrokenError("key", f"two positions have the key {key}, but not the same player, actions or rewards", "key")

    def _random(self, position: Position, rng: Rng, legal: list[int], drawn: int, word: int) -> None:
        own = Rng.from_word(rng.word)
        plain = _guard("random_action", lambda: position.state.random_action(own))
        self._same("random_action", (drawn, word), (int(plain), own.word))
        if drawn not in legal:
            raise _BrokenError("random", f"random_action gave {drawn}, which is not among the legal actions {legal}", "random_action")
        rng.bits()
        if not self.drawn:
            self.drawn = True
            many = Rng.from_word(rng.word)
            seen = [int(position.state.random_action(many)) for _ in range(_DRAWS_PER_MOVE * len(legal))]
            missed = [action for action in legal if not _DRAWS_PER_MOVE / 6 < seen.count(action) < _DRAWS_PER_MOVE * 4]
            if missed:
                raise _BrokenError("random", f"random_action gave {missed[0]} {seen.count(missed[0])} times in {len(seen)} draws from "
                              f"{len(legal)} legal actions: they are not equally likely", "random_action")

    def _close_look(self, position: Position, legal: list[int]) -> None:
        state = position.state
        out = np.zeros(self.game.facts.num_actions, np.int32)
        count = int(_guard("legal_actions", lambda: state.legal_actions(out)))
        self._same("legal_actions", legal, out[:count].tolist())
        if state._states.tobytes() != position.record.tobytes():
            raise _BrokenError("pure", "legal_actions changed the state", "legal_actions")
        if self.game.has("heuristic"):
            estimate = np.zeros(self.game.facts.players)
            _guard("heuristic", lambda: state.heuristic(estimate))
            self._same("heuristic", self.estimate.tolist(), estimate.tolist())
        if self.named < _NAMED_LOOKS:
            self.named += 1
            self._names(position, legal)

    def _names(self, position: Position, legal: list[int]) -> None:
        names = [str(_guard("move_text", functools.partial(position.move_text, action))) for action in legal]
        step = max(1, len(legal) // _READ_BACK)
        for name, action in list(zip(names, legal, strict=True))[self.named % step :: step]:
            if names.count(name) > 1 or not name or any(letter in name for letter in " \t\n,;"):
                raise _BrokenError("names", f"the move {action} is called {name!r}: a name is used once and has no blank, comma or semicolon", "move_text")
            back = _guard("parse_move", functools.partial(position.parse_move, name))
            if back != action:
                raise _BrokenError("names", f"the move {action} is called {name!r}, which parse_move reads as {back}", "parse_move")
            _guard(f"apply({action})", functools.partial(position.state.apply, action))
        _guard("render", lambda: str(position))

    def _same(self, method: str, compiled: Any, interpreted: Any, detail: str = "") -> None:
        if compiled != interpreted:
            told = detail or f"interpreted it gives {interpreted}, compiled {compiled}"
            raise _BrokenError("same", f"{method} differs between the modes: {told}", method)

    # The shortest game that shows a failure.

    def _fails(self, actions: list[int]) -> tuple[list[int], _BrokenError] | None:
        """Replay; the moves up to the first failure, and the failure. None if nothing fails or a move is illegal."""
        rng = Rng(1)
        self.keys.clear()
        self.named, self.drawn = 0, False
        done: list[int] = []
        try:
            position = self._start()
            for action in actions:
                if action not in self._look(position, rng, close=True):
                    return None
                done.append(action)
                position = self._step(position, action)
            legal = self._look(position, rng, close=True)
            if legal and len(actions) >= self.game.facts.max_length:
                raise _BrokenError("length", f"the game is not over after max_length = {self.game.facts.max_length} moves", "is_terminal")
        except _BrokenError as broken:
            return done, broken
        return None

    def _shortest(self, played: list[int], broken: _BrokenError) -> tuple[list[int], _BrokenError]:
        best, why = list(played), broken
        if broken.promise == "key":  # two positions are needed to show it, so nothing can be left out
            return best, why
        for actions in self._all_short(len(best)):
            found = self._fails(actions)
            if found and found[1].promise == broken.promise:
                return found
        size = len(best) // 2
        while size:
            for start in range(len(best) - size + 1):
                found = self._fails(best[:start] + best[start + size :])
                if found and found[1].promise == broken.promise and len(found[0]) < len(best):
                    best, why = found
                    break
            else:
                size //= 2
            size = min(size, len(best) // 2) if len(best) > 1 else 0
        return best, why

    def _all_short(self, below: int) -> Iterator[list[int]]:
        """Move lists, the shorter first, as far as the budget goes."""
        waiting: list[tuple[list[int], Position]] = [([], Position(self.game))]
        looked = 0
        while waiting:
            actions, position = waiting.pop(0)
            if len(actions) >= below or looked >= _SHORTEST_BUDGET:
                return
            looked += 1
            yield actions
            try:
                waiting.extend(([*actions, action], position.apply(action)) for action in position.legal_actions())
            except Exception:  # noqa: BLE001 - a failing position has no successors; the list that leads to it was yielded
                continue

    def _told(self, actions: list[int], broken: _BrokenError) -> str:
        position, names = Position(self.game), list[str]()
        try:
            for action in actions:
                names.append(position.move_text(action))
                position = position.apply(action)
            shown = str(position)
        except Exception:  # noqa: BLE001 - the very failure that is being told
            shown = repr(position.state)
        moves = f"the moves {' '.join(names)} (actions {actions})" if actions else "the start, before any move"
        line = broken.line or _definition(self.game, broken.method)
        return f"{self.game.name} breaks a promise: {_PROMISES[broken.promise]}.\n{broken.detail}\n  {line}\nseen after {moves}:\n{shown}"


def _guard(method: str, call: Callable[[], Any], *, compiled: bool = False) -> Any:
    """Run a method of the user's; a failure becomes a broken promise with the user's own line."""
    try:
        return call()
    except TreetopError as error:
        if compiled:
            raise
        raise _BrokenError("works", f"{method} fails: {error}", method, _line(error)) from error
    except Exception as error:
        mode = "compiled, " if compiled else ""
        line = "" if compiled else _line(error)
        raise _BrokenError("works", f"{mode}{method} fails: {type(error).__name__}: {error}", method, line) from error


def _line(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/treetop/game/" not in frame.filename]
    return f"{frames[-1].filename}, line {frames[-1].lineno}: {frames[-1].line}" if frames else ""


def _definition(game: Game, method: str) -> str:
    method = method.partition("(")[0]
    function = game.functions.get(method) or getattr(game.cls, method, None)
    if function is None:
        return ""
    code = inspect.unwrap(function).__code__
    return f"{code.co_filename}, line {code.co_firstlineno}: def {method}"
