"""Information-set search (ISMCTS): imperfect information, simultaneous moves, continuous actions, open-loop chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.intrinsics import mix_bits
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.kernels.build import INFORMATION_SETS
from treetop.kernels.chance.outcomes import SEAT
from treetop.kernels.control import DONE, NEED_CAPACITY
from treetop.kernels.loop import make_run
from treetop.kernels.parts import SETS
from treetop.kernels.rules.regret_matching import RegretMatching
from treetop.kernels.sets.descend import find_root
from treetop.kernels.sets.table import FIRST_PLACES, fill_sets
from treetop.search.config import SearchConfig
from treetop.search.drivers.game import GameDriver
from treetop.search.drivers.scratch import MOST_DRAWN, Scratch, Sizes
from treetop.search.evaluator import CompiledEvaluator, Mixed, Rollout, in_python
from treetop.search.plan import Plan, make_control, refuse_parts
from treetop.tree.storage import Tree
from treetop.types import CHANCE

_FIRST_TABLE = 2**12
_TRIALS = 4  # determinizations that are checked before the first simulation
_WIDENING = 2.0  # the default factor of progressive widening of continuous actions
_LEAVE_OUT = (
    *("solver", "noise", "forced_playouts", "variance_scale", "fpu", "c_schedule", "max_depth", "expand_after"),
    "opponents",
)


def needs_information_sets(game: Game, config: SearchConfig) -> bool:
    """Return whether a game is searched over information sets: its players do not choose by the position alone."""
    hidden = game.has("determinize") and config.information.name == "sets"
    open_loop = config.chance.name == "open_loop" and game.has("chance_outcomes")
    return hidden or open_loop or game.has("apply_joint") or game.has("apply_vector")


class InformationSetDriver(GameDriver):
    """A driver over information sets. Its tree is a table of them, without proofs."""

    method = "information-set search (ISMCTS)"
    begins_anew = True
    no_batches = (
        "information-set search evaluates by rollouts or by the game's heuristic: give Rollout(), Heuristic() or "
        "Uniform()"
    )

    def __init__(
        self, position: Position, config: SearchConfig, evaluator: Any, seed: int, player: int, tier: str | None = None
    ) -> None:
        super().__init__(position, config, evaluator, seed, player, tier)
        _check(config, evaluator, self.game)
        facts = self.game.facts
        low, high = facts.rewards
        columns = {"keys", "available"} | config.rule.columns()
        columns |= {"action_values"} if facts.action_size else set()
        normalise = high - low > 2 if config.values.normalise is None else config.values.normalise
        self.plan = Plan(INFORMATION_SETS, frozenset(columns), normalise, _FIRST_TABLE)
        self.build = INFORMATION_SETS
        self.tree = Tree(
            facts.players,
            zero_sum=bool(facts.zero_sum),
            max_nodes=config.growth.max_nodes,
            columns=self.plan.columns,
            action_size=facts.action_size or 0,
        )
        self.most_children = (MOST_DRAWN if facts.action_size else facts.num_actions) + 2
        self.control = make_control(config, evaluator, 0, self.game, self.plan)
        self.control["rng"], self.control["seed"] = Rng(seed).word, seed & (2**64 - 1)
        self.control["observers"] = getattr(config.information, "observers", "multiple") == "multiple"
        if facts.action_size:
            self.control["widening"] = _WIDENING if config.widening.actions is None else config.widening.actions
        self.scratch = Scratch.of(INFORMATION_SETS, Sizes.of(self.game, _FIRST_TABLE, sets=True))
        self.start(position)

    def start(self, position: Position) -> None:
        """Start a new search from a position, for `player`."""
        self.position, player = position, max(self.player, SEAT)
        if self.game.has("determinize") and position.player != CHANCE:
            rng = Rng(self.seed)
            for _ in range(_TRIALS):
                position.determinize(player, rng)  # raises where it contradicts the player's information
        self.tree.clear()
        self.scratch.work.table[:] = 0
        self.control["blocks"], self.control["frozen"] = 0, 0
        self.control["searcher"] = player
        self.control["hidden"] = (
            self.game.has("determinize") and self.config.information.name == "sets" and position.player != CHANCE
        )
        self.control["history"] = _history(position)
        self.control["value_low"], self.control["value_high"] = np.inf, -np.inf

    @property
    def from_cache(self) -> bool:
        """Return whether the compiled code came from an earlier process."""
        return self.engine.entry(make_run(INFORMATION_SETS)).from_cache

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        self.prepare_kernel(make_run(INFORMATION_SETS), self.position.record, self.scratch.pack, 0, 1)
        self.prepare_kernel(find_root, self.position.record, self.scratch.pack)
        self.prepare_kernel(fill_sets, self.scratch.pack)

    def run(self, simulations: int) -> int:
        """Run `simulations` simulations; return how many were run."""
        done = 0
        try:
            while done < simulations:
                self.enter(simulations - done)
                self.call(make_run(INFORMATION_SETS), self.position.record, self.scratch.pack, 0, 1)
                done += int(self.control[0]["done"])
                status = int(self.control[0]["status"])
                if status == NEED_CAPACITY:
                    self._grow()
                elif status != DONE:
                    raise self.failure()
        finally:  # also after an error: the children of the root may have moved
            self.call(find_root, self.position.record, self.scratch.pack)
        return done

    def _grow(self) -> None:
        """Enlarge the tree, the table or a buffer.

        A bounded tree stops growing, and simulations then end at known nodes.
        """
        table, capacity, offered = self.scratch.work.table, self.tree.columns.capacity, self.scratch.work.offered
        if int(self.control[0]["logged"]) + self.game.facts.num_actions > len(offered):
            self.scratch.replace(offered=np.zeros(2 * len(offered), np.int32))
            return
        if 4 * int(self.control[0]["blocks"]) >= len(table):
            self.scratch.replace(table=np.zeros(4 * len(table), np.uint64))
            self.control["size"] = self.tree.size
            self.call(fill_sets, self.scratch.pack)
            return
        self.tree.reserve(capacity)
        if self.tree.columns.capacity == capacity:
            self.control["frozen"] = 1

    def enter(self, budget: int) -> None:
        """Update the control record before a kernel is called."""
        self.control["size"], self.control["capacity"] = self.tree.size, self.tree.columns.capacity
        self.control["budget"], self.control["done"] = budget, 0


def set_key(position: Position, player: int) -> int:
    """Return the key of a player's information set in a position."""
    game = position.game
    known = int(position.state.information(player)) if game.has("information") else _history(position)
    return int(mix_bits(np.uint64(known & (2**64 - 1)) ^ _salt(player)))


def _salt(player: int) -> np.uint64:
    with np.errstate(over="ignore"):
        return np.uint64(np.uint64(player + 1) * np.uint64(0x9E3779B97F4A7C15))


def _history(position: Position) -> int:
    """Return the key of the actions that were played; all numbers of continuous actions count as 0."""
    key = np.uint64(0)
    for action in position.actions:
        for part in action if isinstance(action, tuple) else (action,):
            key = mix_bits(key ^ _salt(int(part) if isinstance(part, (int, np.integer)) else 0))
    return int(key)


def _check(config: SearchConfig, evaluator: Any, game: Game) -> None:
    what = f"information-set search, which {game.name} needs,"
    refuse_parts(config, what, SETS, _LEAVE_OUT)
    if config.widening.actions is not None and not game.facts.action_size:
        raise ConfigError(f"{what} widens continuous actions only: leave widening out")
    if callable(config.tie_break):
        raise ConfigError(f"{what} breaks ties at random or by order: leave out the tie_break function")
    if game.has("determinize") and (config.chance.name == "open_loop" or config.widening.outcomes is not None):
        raise ConfigError(
            "chance='open_loop' and chance_widening are for games with perfect information: leave them out for "
            f"{game.name}"
        )
    if isinstance(config.rule, RegretMatching):
        if getattr(config.information, "observers", "multiple") == "single":
            raise ConfigError(
                "regret matching needs observers='multiple': a player's regrets are about its own information sets"
            )
        if game.facts.action_size:
            raise ConfigError(
                "regret matching is for a fixed set of actions, not for continuous ones: use another rule"
            )
    if (
        in_python(evaluator) is not None
        or isinstance(evaluator, Mixed)
        or getattr(evaluator, "prior_temperature", None) is not None
    ):
        raise ConfigError(InformationSetDriver.no_batches)
    if isinstance(evaluator, Rollout) and (evaluator.count != 1 or evaluator.keeps_history):
        raise ConfigError(f"{what} evaluates by one rollout with the policy 'random' or 'game'; not by {evaluator!r}")
    if isinstance(evaluator, CompiledEvaluator):
        evaluator.check(game)
    least = 2 + game.facts.players * (1 + max(game.facts.num_actions, FIRST_PLACES))
    if config.growth.max_nodes is not None and config.growth.max_nodes < least:
        raise ConfigError(
            f"max_nodes must be at least {least} for {game.name}, the size of the first information sets; "
            f"not {config.growth.max_nodes}"
        )
