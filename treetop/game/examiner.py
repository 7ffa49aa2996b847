"""The checks of one position for the conformance check, interpreted and optionally compiled."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction
from treetop.compiler.rng import Rng
from treetop.errors import TreetopError
from treetop.game import probe
from treetop.game.contract import ContractError, as_whole, guard, state_text
from treetop.game.definition import Game
from treetop.game.examine_kinds import (
    examine_chance,
    examine_determinization,
    examine_joint_actions,
    examine_recall,
    examine_sampled_action,
    examine_step_rewards,
    record_history,
)
from treetop.game.examine_observations import examine_observations
from treetop.game.examine_symmetries import examine_symmetries
from treetop.game.examine_texts import examine_names, examine_texts
from treetop.game.notes import Tally
from treetop.game.position import Position, make
from treetop.types import CHANCE, NONE, SIMULTANEOUS, IntArray

_NAMED = 200  # the number of positions in which moves are named, parsed and applied
_NAMED_IN_TRIAL = 10
_UNWRITTEN = 65_536  # the number of entries of a list that are marked as unwritten before the game fills it
_DRAWS_PER_MOVE = 40
_MOST_KEYS = 1_000_000
_MOST_BYTES = 2**26  # of the states that are kept to show two with the same key
_ROUNDING = 1e-9  # the tolerance of a sum of rewards, for each unit of the utility range


@dataclass(frozen=True)
class Options:
    """The choices in a position: one list of actions or outcomes, one list for each player, or a sampled vector."""

    lists: tuple[list[int], ...] = ()
    joint: bool = False
    vector: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lists or self.vector)

    def __contains__(self, action: Any) -> bool:
        if self.joint:
            return isinstance(action, tuple) and all(
                part in legal for part, legal in zip(action, self.lists, strict=True)
            )
        return isinstance(action, tuple) if self.vector else any(action in legal for legal in self.lists)

    def pick(self, rng: Rng) -> Any:
        """Return a uniformly drawn choice; outcomes of chance are drawn uniformly too."""
        if self.vector:
            return self.vector
        picked = tuple(legal[rng.below(len(legal))] for legal in self.lists)
        return picked if self.joint else picked[0]


class Examiner:
    """Plays a game in both modes in parallel, examines its positions and raises a `ContractError` for a violation.

    With `compiled=False` nothing is compiled, as in the trial of unchecked rules. Checks that do not concern the safety
    of a search are then skipped: uniform draws, different keys for different positions, perfect recall.
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
        """The immediate rewards of each player so far, in the current game."""
        self.pasts = [0] * facts.players
        """A hash of the observations and actions of each player so far, in the current game."""
        self.symmetry: int | None = None
        """The symmetry of a violation that was found: only this one is examined then."""
        self.tally = Tally(facts.players)
        """Who moved and who won, in all games that were played."""
        self.forget()

    def forget(self) -> None:
        """Discard everything that was recorded in earlier positions."""
        self.keys: dict[int, tuple[tuple[Any, ...], Any]] = {}
        self.known: dict[tuple[int, int], tuple[Any, ...]] = {}
        self.named, self.drawn, self.chances = 0, False, 0
        self.observed, self.transformed = 0, 0

    # Play in both modes.

    def start(self, deal: int) -> Position:
        """Return the initial position; a game with `deal` is dealt by the generator with the word `deal`."""
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
        """Return the position after an action."""
        method, kernel, given = self.applying(position, action)
        state = position.state
        guard(f"{method}({action})", lambda: make(state, action))
        following = Position(self.game, state._states, (*position.actions, action), position.start)
        if self.compiled:
            self.states[:] = position.record
            guard(f"{method}({action})", lambda: self.engine.entry(kernel)(self.states, given), compiled=True)
            self.same_state(method, following)
        if self.game.has("information"):
            record_history(self, position, action)
        if self.game.has("step_rewards"):
            self.total += examine_step_rewards(self, following)
        return following

    def applying(self, position: Position, action: Any) -> tuple[str, CompiledFunction[..., Any], Any]:
        """Return the method that applies an action, its kernel, and the argument of that kernel."""
        if not isinstance(action, tuple):
            return "apply", probe.step, action
        if position.player == SIMULTANEOUS:
            return "apply_joint", probe.step_joint, np.array(action, np.int64)
        return "apply_vector", probe.step_vector, np.array(action, np.float64)

    def play(self, rng: Rng, deal: int, stride: int, played: list[Any], until: float = math.inf) -> None:
        """Play one random game. Each action is appended to `played` before it is applied, so a failure keeps its moves.

        The game is abandoned when `time.thread_time()` reaches `until`.
        """
        position = self.start(deal)
        while time.thread_time() < until:
            thorough = stride == 1 or rng.below(stride) == 0 or len(played) < 2
            options = self.examine(position, rng, thorough=thorough)
            if not options:
                self.tally.end((self.total + self.rewards).tolist())
                return
            self.length(len(played))
            self.tally.move(int(self.findings[0]["player"]))
            action = options.pick(rng)
            played.append(action)
            position = self.step(position, action)

    def length(self, played: int) -> None:
        """Raise an error if a game that is not over has already had `max_length` moves."""
        longest = self.game.facts.max_length
        if played >= longest:
            raise ContractError(
                "length",
                f"the game is not over after max_length = {longest} moves: raise it, or correct is_terminal, or "
                "legal_actions if it lists moves that should be illegal",
                "is_terminal",
            )

    # Both modes must give the same results, and queries must not change the state.

    def same(self, method: str, compiled: Any, interpreted: Any, detail: str = "") -> None:
        """Raise an error if the two modes gave different results."""
        if self.compiled and compiled != interpreted:
            difference = detail or f"interpreted it gives {interpreted}, compiled {compiled}"
            raise ContractError("same", f"{method} differs between the modes: {difference}", method)

    def same_state(self, method: str, position: Position) -> None:
        """Raise an error if the compiled state differs from that of the position."""
        self.same(method, self.states.tobytes(), position.record.tobytes(), self._difference(position))

    def _difference(self, position: Position) -> str:
        names = [
            name for name in self.game.fields if not np.array_equal(self.states[0][name], position.record[0][name])
        ]
        return "; ".join(
            f"{name} is {position.record[0][name]} interpreted and {self.states[0][name]} compiled" for name in names
        )

    def call(self, position: Position, method: str, *arguments: Any) -> Any:
        """Call an interpreted method, check that it did not change the state, and return its result."""
        state = position.state
        answer = guard(method, lambda: getattr(state, method)(*arguments), facts=self.game.facts)
        if state._states.tobytes() != position.record.tobytes():
            raise ContractError("pure", f"{method} changed the state", method)
        return answer

    def call_whole(self, position: Position, method: str, *arguments: Any) -> int:
        """Call an interpreted method that must return a whole number, and return it."""
        return as_whole(method, self.call(position, method, *arguments))

    def call_compiled(
        self, position: Position, method: str, kernel: CompiledFunction[..., Any], *arguments: Any
    ) -> None:
        """Run a kernel that calls one compiled method and writes its results; do nothing in a trial."""
        if not self.compiled:
            return
        self.states[:] = position.record
        guard(method, lambda: self.engine.entry(kernel)(self.states, *arguments), compiled=True)
        if self.states.tobytes() != position.record.tobytes():
            raise ContractError("pure", f"{method} changed the state: {self._difference(position)}", method)

    def listed(self, method: str, found: IntArray, count: int, what: str, requirement: str = "actions") -> list[int]:
        """Check a list of actions or outcomes and return it."""
        limit = "num_outcomes" if what == "outcomes" else "num_actions"
        size: int = getattr(self.game.facts, limit)
        if not 1 <= count <= size:
            raise ContractError(
                requirement, f"{method} gave {count} {what}; there must be 1 to {size} ({limit})", method
            )
        legal = [int(action) for action in found[:count]]
        strange = [action for action in legal if not 0 <= action < size]
        if strange:
            raise ContractError(requirement, f"{method} gave {strange[0]}; {what} are 0 to {size - 1}", method)
        if len(set(legal)) < count:
            twice = next(action for action in legal if legal.count(action) > 1)
            raise ContractError(requirement, f"{method} gave {twice} twice", method)
        return legal

    # One position.

    def examine(self, position: Position, rng: Rng, *, thorough: bool) -> Options:
        """Check everything in one position and return the choices there."""
        self.states[:] = position.record
        self.findings["rng"] = rng.word
        terminal = bool(self.call_whole(position, "is_terminal"))
        mover = NONE if terminal else self._player(position)
        if self.compiled:
            self._probe(position, terminal)
        else:
            self._probe_interpreted(position, rng, terminal, mover)
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
            examine_recall(self, position, mover, options.lists)
        if thorough:
            self._examine_thoroughly(position, rng, terminal, mover, options)
        return options

    def _options(self, position: Position, rng: Rng, mover: int) -> Options:
        if mover == CHANCE:
            return Options((examine_chance(self, position, rng),))
        if mover == SIMULTANEOUS:
            return Options(examine_joint_actions(self, position), joint=True)
        if self.game.facts.action_size is not None:
            return Options(vector=examine_sampled_action(self, position, rng))
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
            # The same failure in plain Python has a traceback with the line.
            method, size, kind = (
                ("rewards", self.game.facts.players, "f8")
                if terminal
                else ("legal_actions", self.game.facts.num_actions, "i4")
            )
            guard(method, lambda: getattr(position.state, method)(np.zeros(size, kind)))
            raise ContractError(
                "works", f"compiled, a method fails: {type(error).__name__}: {error}", "legal_actions"
            ) from error
        if self.states.tobytes() != position.record.tobytes():
            raise ContractError("pure", f"a query changed the state: {self._difference(position)}", "legal_actions")

    def _probe_interpreted(self, position: Position, rng: Rng, terminal: bool, mover: int) -> None:
        """Write the same findings as the kernel of `_probe`, without compiling anything."""
        finding = self.findings[0]
        finding["terminal"], finding["player"], finding["count"] = terminal, mover, 0
        if terminal:
            self.rewards[:] = 0.0
            self.call(position, "rewards", self.rewards)
        elif mover >= 0 and self.game.facts.action_size is None:
            self.actions[:_UNWRITTEN] = NONE  # an entry that is counted but never written is then out of range
            finding["count"] = self.call_whole(position, "legal_actions", self.actions)
            if self.game.has("random_action"):
                own = Rng.from_word(rng.word)
                finding["drawn"], finding["rng"] = self.call_whole(position, "random_action", own), own.word
        if self.game.has("key"):
            finding["key"] = self.call_whole(position, "key") & (2**64 - 1)
        self.estimate[:] = 0.0
        if self.game.has("heuristic"):
            self.call(position, "heuristic", self.estimate)

    def _player(self, position: Position) -> int:
        player = self.call_whole(position, "current_player")
        players = self.game.facts.players
        kinds = {CHANCE: self.game.has("chance_outcomes"), SIMULTANEOUS: self.game.has("apply_joint")}
        if not (0 <= player < players or kinds.get(player, False)):
            raise ContractError(
                "player", f"current_player gave {player}; players are 0 to {players - 1}", "current_player"
            )
        return player

    def _rewards(self, position: Position) -> None:
        facts = self.game.facts
        out = np.zeros(facts.players)
        self.call(position, "rewards", out)
        low, high = facts.rewards
        # A sum of immediate rewards is rounded; a single reward is not.
        slack = _ROUNDING * (high - low) if self.game.has("step_rewards") else 0.0
        whole, what = (self.total + out, "total rewards") if slack else (out, "rewards")
        if not np.isfinite(whole).all() or whole.min() < low - slack or whole.max() > high + slack:
            raise ContractError(
                "rewards", f"the {what} are {whole.tolist()}; they must lie between {low:g} and {high:g}", "rewards"
            )
        self.same("rewards", self.rewards.tolist(), out.tolist())
        if facts.zero_sum and abs(whole.sum()) > slack:
            raise ContractError(
                "rewards",
                f"the {what} {whole.tolist()} do not sum to zero; set zero_sum=False if that is right",
                "rewards",
            )

    def _key(self, position: Position, terminal: bool, mover: int, options: Options) -> None:
        if not self.game.has("key"):
            return
        key = self.call_whole(position, "key") & (2**64 - 1)
        self.same("key", int(self.findings[0]["key"]), key)
        rewards = tuple(self.rewards.tolist()) if terminal else ()
        about = (terminal, mover, tuple(tuple(sorted(legal)) for legal in options.lists), rewards)
        if not self.compiled or len(self.keys) >= _MOST_KEYS:
            return
        record = position.record if len(self.keys) * self.states.nbytes < _MOST_BYTES else None
        before, other = self.keys.setdefault(key, (about, record))
        if before != about:
            shown = "" if other is None else f"; the other one is {state_text(self.game.view(other.copy()))}"
            raise ContractError(
                "key", f"two positions with the key {key} have different players, actions or rewards{shown}", "key"
            )

    def _random(self, position: Position, rng: Rng, legal: list[int], drawn: int, word: int) -> None:
        own = Rng.from_word(rng.word)
        self.same("random_action", (drawn, word), (self.call_whole(position, "random_action", own), own.word))
        if drawn not in legal:
            raise ContractError(
                "random",
                f"random_action returned {drawn}, which is not among the legal actions {legal}",
                "random_action",
            )
        rng.bits()
        if self.compiled and not self.drawn:
            self.drawn = True
            many = Rng.from_word(rng.word)
            seen = [int(position.state.random_action(many)) for _ in range(_DRAWS_PER_MOVE * len(legal))]
            missed = [action for action in legal if not _DRAWS_PER_MOVE / 6 < seen.count(action) < _DRAWS_PER_MOVE * 4]
            if missed:
                raise ContractError(
                    "random",
                    f"random_action returned {missed[0]} {seen.count(missed[0])} times in {len(seen)} draws from "
                    f"{len(legal)} legal actions: the draws are not uniform",
                    "random_action",
                )

    def _examine_thoroughly(self, position: Position, rng: Rng, terminal: bool, mover: int, options: Options) -> None:
        if self.game.has("determinize"):
            examine_determinization(self, position, rng, terminal=terminal, mover=mover)
        if self.game.has("observe"):
            examine_observations(self, position, rng)
        if self.game.has("transform"):
            examine_symmetries(self, position, rng, options, mover)
        if terminal:
            if not self.compiled:
                examine_texts(self, position)
            return
        if mover >= 0 and not options.vector:
            if self.compiled:
                out = np.zeros(self.game.facts.num_actions, np.int32)
                count = self.call_whole(position, "legal_actions", out)
                self.same("legal_actions", options.lists[0], out[:count].tolist())
            if self.game.has("rollout_action"):
                played = self.call_whole(position, "rollout_action", Rng.from_word(rng.word))
                if played not in options:
                    raise ContractError(
                        "random",
                        f"rollout_action returned {played}, which is not among the legal actions {options.lists[0]}",
                        "rollout_action",
                    )
        if self.game.has("heuristic"):
            self._heuristic(position)
        if self.named < (_NAMED if self.compiled else _NAMED_IN_TRIAL):
            self.named += 1
            for seat, legal in enumerate(options.lists):
                examine_names(self, position, legal, seat if options.joint else None)
            examine_texts(self, position)

    def _heuristic(self, position: Position) -> None:
        estimate = np.zeros(self.game.facts.players)
        self.call(position, "heuristic", estimate)
        self.same("heuristic", self.estimate.tolist(), estimate.tolist())
        if not np.isfinite(estimate).all():
            raise ContractError(
                "estimate", f"heuristic wrote {estimate.tolist()}; the numbers must be finite", "heuristic"
            )
        facts, step_rewards = self.game.facts, self.game.has("step_rewards")
        least, greatest = facts.allowed_values(step_rewards=step_rewards)
        if estimate.min() < least or estimate.max() > greatest:
            low, high = facts.value_range(step_rewards=step_rewards)
            raise ContractError(
                "estimate",
                f"heuristic wrote {estimate.tolist()}; they must lie between {low:g} and {high:g}",
                "heuristic",
            )
