"""Everything that the conformance check examines in one position, interpreted, and compiled as well if asked for."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction
from treetop.compiler.rng import Rng
from treetop.errors import TreetopError
from treetop.game import probe
from treetop.game.broken import BrokenError, as_whole, guard
from treetop.game.definition import Game
from treetop.game.look_kinds import (
    look_at_chance,
    look_at_numbers,
    look_at_observations,
    look_at_recall,
    look_at_secrets,
    look_at_steps,
    look_at_together,
    remember,
)
from treetop.game.moves import TOGETHER
from treetop.game.position import Position, make
from treetop.types import CHANCE, NONE, SIMULTANEOUS, IntArray

_NAMED_LOOKS = 200  # positions in which moves are named, read back and applied
_NAMED_IN_TRIAL = 10
_UNWRITTEN = 65_536  # entries of a list that are marked as unwritten before it is asked for
_READ_BACK = 12  # moves of one position that are read back and applied
_DRAWS_PER_MOVE = 40
_MOST_KEYS = 1_000_000
_ROUNDING = 1e-9  # of a sum of rewards, for each unit of the range


@dataclass(frozen=True)
class Options:
    """What may be chosen in a position: an action or outcome of one list, one of each player's list, or any numbers, of which some are drawn."""

    lists: tuple[list[int], ...] = ()
    together: bool = False
    numbers: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lists or self.numbers)

    def __contains__(self, action: Any) -> bool:
        if self.together:
            return isinstance(action, tuple) and all(
                part in legal for part, legal in zip(action, self.lists, strict=True)
            )
        return isinstance(action, tuple) if self.numbers else any(action in legal for legal in self.lists)

    def pick(self, rng: Rng) -> Any:
        """One of them; each of a list as likely, be it of chance or not."""
        if self.numbers:
            return self.numbers
        picked = tuple(legal[rng.below(len(legal))] for legal in self.lists)
        return picked if self.together else picked[0]


class Looks:
    """Plays a game in both modes at once, examines its positions, and raises a `BrokenError` where something is wrong.

    With `compiled=False` nothing is compiled: the trial of rules that nobody has checked yet. It leaves out what says nothing about the safety of a
    search: whether names are unique, draws uniform, keys different for different positions, and recall perfect.
    """

    def __init__(self, game: Game, *, compiled: bool = True) -> None:
        facts = game.facts
        self.game = game
        self.compiled = compiled
        if compiled:
            self.engine = game.engine(bounds_checked=True)
        self.states = np.zeros(1, game.dtype)
        self.findings = np.zeros(1, probe.FINDINGS)
        self.actions = np.zeros(facts.num_actions, np.int32)
        self.rewards = np.zeros(facts.players)
        self.estimate = np.zeros(facts.players)
        self.total = np.zeros(facts.players)
        """What each player has received on the way, in the game that is being played."""
        self.pasts = [0] * facts.players
        """For each player, what they saw and did in the game that is being played, as one number."""
        self.forget()

    def forget(self) -> None:
        """Look at everything as if for the first time."""
        self.keys: dict[int, tuple[Any, ...]] = {}
        self.known: dict[tuple[int, int], tuple[Any, ...]] = {}
        self.named, self.drawn, self.chances = 0, False, 0

    # The game goes on, in both modes.

    def start(self, deal: int) -> Position:
        """The first position; where the game deals, dealt from the generator's word `deal`."""
        states = np.zeros(1, self.game.dtype)
        guard("reset", lambda: self.game.view(states).reset())
        position = Position(self.game, states)
        if self.compiled:
            self.states[:] = 0
            guard("reset", lambda: self.engine.entry(probe.begin)(self.states), compiled=True)
            self.same_state("reset", position)
        if self.game.has("deal"):
            state, rng = position.state, Rng.from_word(deal)
            guard("deal", lambda: state.deal(rng))
            position = Position(self.game, state._states)
            if self.compiled:
                self.findings["rng"] = deal
                guard("deal", lambda: self.engine.entry(probe.deal)(self.states, self.findings), compiled=True)
                self.same_state("deal", position)
                self.same("deal", int(self.findings[0]["rng"]), rng.word)
        self.total[:] = 0.0
        self.pasts = [0] * self.game.facts.players
        return position

    def step(self, position: Position, action: Any) -> Position:
        """The position after an action."""
        method, kernel, given = self._way(position, action)
        state = position.state
        guard(f"{method}({action})", lambda: make(state, action))
        following = Position(self.game, state._states, (*position.actions, action), position.start)
        if self.compiled:
            self.states[:] = position.record
            guard(f"{method}({action})", lambda: self.engine.entry(kernel)(self.states, given), compiled=True)
            self.same_state(method, following)
        if self.game.has("information"):
            remember(self, position, action)
        if self.game.has("step_rewards"):
            self.total += look_at_steps(self, following)
        return following

    def _way(self, position: Position, action: Any) -> tuple[str, CompiledFunction[..., Any], Any]:
        if not isinstance(action, tuple):
            return "apply", probe.step, action
        if position.player == SIMULTANEOUS:
            return "apply_joint", probe.step_together, np.array(action, np.int64)
        return "apply_vector", probe.step_numbers, np.array(action, np.float64)

    def play(self, rng: Rng, deal: int, stride: int, played: list[Any], until: float = math.inf) -> None:
        """Play one random game; `played` is filled meanwhile, so that a failure leaves its moves. `until` is a `time.thread_time` to stop at."""
        position = self.start(deal)
        while time.thread_time() < until:
            close = stride == 1 or rng.below(stride) == 0 or len(played) < 2
            options = self.look(position, rng, close=close)
            if not options:
                return
            self.length(len(played))
            action = options.pick(rng)
            played.append(action)
            position = self.step(position, action)

    def length(self, played: int) -> None:
        """A game that goes on must not have had all its moves."""
        longest = self.game.facts.max_length
        if played >= longest:
            raise BrokenError("length", f"the game is not over after max_length = {longest} moves", "is_terminal")

    # Both modes say the same, and asking changes nothing.

    def same(self, method: str, compiled: Any, interpreted: Any, detail: str = "") -> None:
        """Both modes gave the same answer."""
        if self.compiled and compiled != interpreted:
            told = detail or f"interpreted it gives {interpreted}, compiled {compiled}"
            raise BrokenError("same", f"{method} differs between the modes: {told}", method)

    def same_state(self, method: str, position: Position) -> None:
        """The compiled state is that of the position."""
        self.same(method, self.states.tobytes(), position.record.tobytes(), self._difference(position))

    def _difference(self, position: Position) -> str:
        names = [
            name for name in self.game.fields if not np.array_equal(self.states[0][name], position.record[0][name])
        ]
        return "; ".join(
            f"{name} is {position.record[0][name]} interpreted and {self.states[0][name]} compiled" for name in names
        )

    def asked(self, position: Position, method: str, *arguments: Any) -> Any:
        """Return what a method answers when interpreted."""
        state = position.state
        answer = guard(method, lambda: getattr(state, method)(*arguments))
        if state._states.tobytes() != position.record.tobytes():
            raise BrokenError("pure", f"{method} changed the state", method)
        return answer

    def asked_whole(self, position: Position, method: str, *arguments: Any) -> int:
        """Return the whole number that a method answers when interpreted."""
        return as_whole(method, self.asked(position, method, *arguments))

    def asked_compiled(
        self, position: Position, method: str, kernel: CompiledFunction[..., Any], *arguments: Any
    ) -> None:
        """Let a kernel that asks one method write what it answers when compiled; nothing in a trial."""
        if not self.compiled:
            return
        self.states[:] = position.record
        guard(method, lambda: self.engine.entry(kernel)(self.states, *arguments), compiled=True)
        if self.states.tobytes() != position.record.tobytes():
            raise BrokenError("pure", f"{method} changed the state: {self._difference(position)}", method)

    def listed(self, method: str, found: IntArray, count: int, what: str, promise: str = "actions") -> list[int]:
        """A list of actions or outcomes, once it is known to be one."""
        limit = "num_outcomes" if what == "outcomes" else "num_actions"
        size: int = getattr(self.game.facts, limit)
        if not 1 <= count <= size:
            raise BrokenError(promise, f"{method} gave {count} {what}; 1 to {limit} = {size} can be", method)
        legal = [int(action) for action in found[:count]]
        strange = [action for action in legal if not 0 <= action < size]
        if strange:
            raise BrokenError(promise, f"{method} gave {strange[0]}; {what} are 0 to {size - 1}", method)
        if len(set(legal)) < count:
            twice = next(action for action in legal if legal.count(action) > 1)
            raise BrokenError(promise, f"{method} gave {twice} twice", method)
        return legal

    # One position.

    def look(self, position: Position, rng: Rng, *, close: bool) -> Options:
        """Everything that can be seen in one position; what may be chosen there."""
        self.states[:] = position.record
        self.findings["rng"] = rng.word
        terminal = bool(self.asked_whole(position, "is_terminal"))
        mover = NONE if terminal else self._player(position)
        if self.compiled:
            self._probe(position, terminal)
        else:
            self._ask_interpreted(position, rng, terminal, mover)
        finding = self.findings[0]
        self.same("is_terminal", bool(finding["terminal"]), terminal)
        options = Options()
        if terminal:
            self._rewards(position)
        else:
            self.same("current_player", int(finding["player"]), mover)
            options = self._options(position, rng, mover)
        self._key(position, terminal, mover, options)
        if self.compiled and self.game.has("information") and not terminal:
            look_at_recall(self, position, mover, options.lists)
        if close:
            self._close_look(position, rng, terminal, mover, options)
        return options

    def _options(self, position: Position, rng: Rng, mover: int) -> Options:
        if mover == CHANCE:
            return Options((look_at_chance(self, position, rng),))
        if mover == SIMULTANEOUS:
            return Options(look_at_together(self, position), together=True)
        if self.game.facts.action_size is not None:
            return Options(numbers=look_at_numbers(self, position, rng))
        finding = self.findings[0]
        legal = self.listed("legal_actions", self.actions, int(finding["count"]), "actions")
        if self.game.has("random_action"):
            self._random(position, rng, legal, int(finding["drawn"]), int(finding["rng"]))
        return Options((legal,))

    def _probe(self, position: Position, terminal: bool) -> None:
        try:
            self.engine.entry(probe.probe)(self.states, self.findings, self.actions, self.rewards, self.estimate)
        except TreetopError:
            raise
        except Exception as error:
            # The same failure in plain Python names the line.
            method, size, kind = (
                ("rewards", self.game.facts.players, "f8")
                if terminal
                else ("legal_actions", self.game.facts.num_actions, "i4")
            )
            guard(method, lambda: getattr(position.state, method)(np.zeros(size, kind)))
            raise BrokenError(
                "works", f"compiled, a method fails: {type(error).__name__}: {error}", "legal_actions"
            ) from error
        if self.states.tobytes() != position.record.tobytes():
            raise BrokenError("pure", f"asking changed the state: {self._difference(position)}", "legal_actions")

    def _ask_interpreted(self, position: Position, rng: Rng, terminal: bool, mover: int) -> None:
        """Write what the kernel of `_probe` writes, without compiling anything."""
        finding = self.findings[0]
        finding["terminal"], finding["player"], finding["count"] = terminal, mover, 0
        if terminal:
            self.rewards[:] = 0.0
            self.asked(position, "rewards", self.rewards)
        elif mover >= 0 and self.game.facts.action_size is None:
            self.actions[:_UNWRITTEN] = NONE  # an entry that is counted and never written is then out of range
            finding["count"] = self.asked_whole(position, "legal_actions", self.actions)
            if self.game.has("random_action"):
                own = Rng.from_word(rng.word)
                finding["drawn"], finding["rng"] = self.asked_whole(position, "random_action", own), own.word
        if self.game.has("key"):
            finding["key"] = self.asked_whole(position, "key") & (2**64 - 1)
        self.estimate[:] = 0.0
        if self.game.has("heuristic"):
            self.asked(position, "heuristic", self.estimate)

    def _player(self, position: Position) -> int:
        player = self.asked_whole(position, "current_player")
        players = self.game.facts.players
        kinds = {CHANCE: self.game.has("chance_outcomes"), SIMULTANEOUS: self.game.has("apply_joint")}
        if not (0 <= player < players or kinds.get(player, False)):
            raise BrokenError(
                "player", f"current_player gave {player}; players are 0 to {players - 1}", "current_player"
            )
        return player

    def _rewards(self, position: Position) -> None:
        facts = self.game.facts
        out = np.zeros(facts.players)
        self.asked(position, "rewards", out)
        low, high = facts.rewards
        # A sum of rewards on the way is rounded; a single reward is not.
        slack = _ROUNDING * (high - low) if self.game.has("step_rewards") else 0.0
        whole, what = (self.total + out, "whole returns") if slack else (out, "rewards")
        if not np.isfinite(whole).all() or whole.min() < low - slack or whole.max() > high + slack:
            raise BrokenError(
                "rewards", f"the {what} are {whole.tolist()}; they must lie between {low:g} and {high:g}", "rewards"
            )
        self.same("rewards", self.rewards.tolist(), out.tolist())
        if facts.zero_sum and abs(whole.sum()) > slack:
            raise BrokenError(
                "rewards",
                f"the {what} {whole.tolist()} do not add up to zero; say zero_sum=False if that is right",
                "rewards",
            )

    def _key(self, position: Position, terminal: bool, mover: int, options: Options) -> None:
        if not self.game.has("key"):
            return
        key = self.asked_whole(position, "key") & (2**64 - 1)
        self.same("key", int(self.findings[0]["key"]), key)
        rewards = tuple(self.rewards.tolist()) if terminal else ()
        about = (terminal, mover, tuple(tuple(sorted(legal)) for legal in options.lists), rewards)
        if self.compiled and len(self.keys) < _MOST_KEYS and self.keys.setdefault(key, about) != about:
            raise BrokenError(
                "key", f"two positions have the key {key}, but not the same player, actions or rewards", "key"
            )

    def _random(self, position: Position, rng: Rng, legal: list[int], drawn: int, word: int) -> None:
        own = Rng.from_word(rng.word)
        self.same("random_action", (drawn, word), (self.asked_whole(position, "random_action", own), own.word))
        if drawn not in legal:
            raise BrokenError(
                "random", f"random_action gave {drawn}, which is not among the legal actions {legal}", "random_action"
            )
        rng.bits()
        if self.compiled and not self.drawn:
            self.drawn = True
            many = Rng.from_word(rng.word)
            seen = [int(position.state.random_action(many)) for _ in range(_DRAWS_PER_MOVE * len(legal))]
            missed = [action for action in legal if not _DRAWS_PER_MOVE / 6 < seen.count(action) < _DRAWS_PER_MOVE * 4]
            if missed:
                raise BrokenError(
                    "random",
                    f"random_action gave {missed[0]} {seen.count(missed[0])} times in {len(seen)} draws from "
                    f"{len(legal)} legal actions: they are not equally likely",
                    "random_action",
                )

    def _close_look(self, position: Position, rng: Rng, terminal: bool, mover: int, options: Options) -> None:
        if self.game.has("determinize"):
            look_at_secrets(self, position, rng, terminal=terminal, mover=mover)
        if self.game.has("observe"):
            look_at_observations(self, position)
        if terminal:
            if not self.compiled:
                self._people(position)
            return
        if mover >= 0 and not options.numbers:
            if self.compiled:
                out = np.zeros(self.game.facts.num_actions, np.int32)
                count = self.asked_whole(position, "legal_actions", out)
                self.same("legal_actions", options.lists[0], out[:count].tolist())
            if self.game.has("rollout_action"):
                played = self.asked_whole(position, "rollout_action", Rng.from_word(rng.word))
                if played not in options:
                    raise BrokenError(
                        "random",
                        f"rollout_action gave {played}, which is not among the legal actions {options.lists[0]}",
                        "rollout_action",
                    )
        if self.game.has("heuristic"):
            self._heuristic(position)
        if self.named < (_NAMED_LOOKS if self.compiled else _NAMED_IN_TRIAL):
            self.named += 1
            self._names(position, options)

    def _heuristic(self, position: Position) -> None:
        estimate = np.zeros(self.game.facts.players)
        self.asked(position, "heuristic", estimate)
        self.same("heuristic", self.estimate.tolist(), estimate.tolist())
        if not np.isfinite(estimate).all():
            raise BrokenError(
                "estimate", f"heuristic wrote {estimate.tolist()}; the numbers must be finite", "heuristic"
            )
        facts, pays = self.game.facts, self.game.has("step_rewards")
        least, greatest = facts.allowed_values(step_rewards=pays)
        if estimate.min() < least or estimate.max() > greatest:
            low, high = facts.value_range(step_rewards=pays)
            raise BrokenError(
                "estimate",
                f"heuristic wrote {estimate.tolist()}; they must lie between {low:g} and {high:g}",
                "heuristic",
            )

    def _names(self, position: Position, options: Options) -> None:
        for seat, legal in enumerate(options.lists):
            self._names_in(position, legal, seat if options.together else None)
        self._people(position)

    def _people(self, position: Position) -> None:
        """Ask for everything that people see of a position."""
        guard("render", lambda: str(position))
        for method in ("board", "summary"):
            if self.game.has(method):
                guard(method, getattr(position, method))
        if self.game.has("render_for"):
            for player in range(self.game.facts.players):
                guard("render_for", functools.partial(position.shown_to, player))

    def _names_in(self, position: Position, legal: list[int], player: int | None) -> None:
        names = [str(guard("move_text", functools.partial(position.move_text, action))) for action in legal]
        refused = " \t\n,;" + (TOGETHER if player is not None else "")
        step = max(1, len(legal) // _READ_BACK)
        for name, action in list(zip(names, legal, strict=True))[self.named % step :: step]:
            if self.compiled and (names.count(name) > 1 or not name or any(letter in name for letter in refused)):
                slash = ", and no slash where all choose at once" if player is not None else ""
                raise BrokenError(
                    "names",
                    f"the move {action} is called {name!r}: a name is used once and has no blank, comma or semicolon{slash}",
                    "move_text",
                )
            back = action
            if self.compiled or self.game.has("parse_move"):
                back = guard("parse_move", functools.partial(position.parse_move, name, player))
            if back != action:
                raise BrokenError(
                    "names", f"the move {action} is called {name!r}, which parse_move reads as {back}", "parse_move"
                )
            if player is None:
                guard(f"apply({action})", functools.partial(position.state.apply, action))
