"""Information-set Monte Carlo tree search in plain Python: the specification of the compiled one.

An information set is all that one player knows when it chooses: by the game's own `information`, or by the actions that
were played. Many states belong to one information set, so information sets are found in a dictionary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.reference.arithmetic import added, by_player, plus
from treetop.reference.chance import draw, outcomes
from treetop.reference.settings import Settings
from treetop.reference.values import Scale
from treetop.types import CHANCE, SIMULTANEOUS

Key = tuple[int, Any]
"""The player who chooses, and its information: the game's key, or the history."""
_WIDENING = 2.0  # the default factor of progressive widening of continuous actions


@dataclass(eq=False)
class Choice:
    """An action of an information set."""

    action: int
    vector: list[float] = field(default_factory=list)
    visits: int = 0
    total: float = 0.0
    """The sum of the returns to the player who chooses."""
    available: int = 0
    """How often it could have been chosen."""
    regret: float = 0.0
    strategy: float = 0.0


@dataclass(eq=False)
class InformationSet:
    """The choices of an information set, and its visits."""

    choices: list[Choice] = field(default_factory=list)
    visits: int = 0

    def choices_for(self, actions: list[int]) -> list[Choice]:
        """Return the choices for some actions, in their order; new ones are added."""
        for action in actions:
            if all(choice.action != action for choice in self.choices):
                self.choices.append(Choice(action))
        return [next(choice for choice in self.choices if choice.action == action) for action in actions]


@dataclass(frozen=True)
class Step:
    """A choice of a simulation, and the choices that were available; simultaneous choices have the same time."""

    time: int
    mover: int
    information_set: InformationSet
    choice: Choice
    available: list[Choice]


class InformationSetSearch:
    """A search that chooses in known information sets until one is new, evaluates there, and backs up."""

    def __init__(self, position: Position, settings: Settings, seed: int, player: int) -> None:
        self.position, self.settings, self.player = position, settings, player
        self.game, self.facts, self.rng = position.game, position.game.facts, Rng(seed)
        self.scale = Scale(settings, self.facts)
        self.information_sets: dict[Key, InformationSet] = {}
        self.totals, self.visits = [0.0] * self.facts.players, 0

    def run(self, simulations: int) -> None:
        """Run simulations, each from a new determinization of the position."""
        for _ in range(simulations):
            state = self.position.state
            if self.game.has("determinize"):
                state.determinize(self.player, self.rng)
            path, rewards = self.select(state)
            self.back_up(path, rewards, self.evaluate(state))

    # 1. Select.

    def select(self, state: Any) -> tuple[list[Step], list[list[float]]]:
        """Return the choices up to a new information set or the end, and the immediate rewards of each time.

        The rewards of a time include those of the outcomes of chance after it.
        """
        path, rewards, history = list[Step](), [[0.0] * self.facts.players], tuple(_flat(self.position.actions))
        while not state.is_terminal():
            player = int(state.current_player())
            if player == CHANCE:
                widens = self.settings.chance_widening is not None
                outcome = self.widened_outcome(state, history) if widens else self.random_outcome(state)
                state.apply(outcome)
                history += () if self.settings.chance == "open_loop" else (outcome,)
                rewards[-1] = plus(rewards[-1], self.step_rewards(state))
                continue
            movers = range(self.facts.players) if player == SIMULTANEOUS else [player]
            keys = [self.key(state, mover, history) for mover in movers]
            is_new = [key not in self.information_sets for key in keys]
            sets = [self.information_sets.setdefault(key, InformationSet()) for key in keys]
            available = [
                [] if self.facts.action_size else information_set.choices_for(self.legal(state, mover))
                for mover, information_set in zip(movers, sets, strict=True)
            ]
            if any(is_new):
                break
            time = len(rewards)
            for mover, information_set, listed in zip(movers, sets, available, strict=True):
                choices = self.widened(information_set, state) if self.facts.action_size else listed
                path.append(Step(time, mover, information_set, self.choose(information_set, choices), choices))
            chosen = [step.choice for step in path[-len(movers) :]]
            history += tuple(choice.action for choice in chosen)
            if player == SIMULTANEOUS:
                state.apply_joint(np.array([choice.action for choice in chosen], np.int64))
            elif self.facts.action_size:
                state.apply_vector(np.array(chosen[0].vector))
            else:
                state.apply(chosen[0].action)
            rewards.append(self.step_rewards(state))
        return path, rewards

    def key(self, state: Any, mover: int, history: tuple[int, ...]) -> Key:
        """Return the key of an information set: of the mover itself, or of the searcher (single observer)."""
        observer = mover if self.settings.observers == "multiple" else self.player
        return mover, int(state.information(observer)) if self.game.has("information") else history

    def widened_outcome(self, state: Any, history: tuple[int, ...]) -> int:
        """Return an outcome, with progressive widening.

        It is drawn anew while there are fewer than max(1, ceil(k * n^power)) after n visits, and else from the known
        ones, in proportion to how often they were drawn anew.
        """
        known = self.information_sets.setdefault((CHANCE, history), InformationSet())
        if len(known.choices) < max(
            1, math.ceil((self.settings.chance_widening or 0.0) * known.visits**self.settings.widening_power)
        ):
            choice = known.choices_for([self.random_outcome(state)])[0]
            choice.available += 1
        else:
            draws = [choice for choice in known.choices for _ in range(choice.available)]
            choice = draws[self.rng.below(len(draws))]
        known.visits, choice.visits = known.visits + 1, choice.visits + 1
        return choice.action

    def widened(self, information_set: InformationSet, state: Any) -> list[Choice]:
        """Return all continuous actions; draw one more while there are fewer than max(1, ceil(k * n^power))."""
        factor = _WIDENING if self.settings.widening is None else self.settings.widening
        allowed = max(1, math.ceil(factor * max(information_set.visits, 1) ** self.settings.widening_power))
        if len(information_set.choices) < allowed:
            vector = np.zeros(self.facts.action_size or 0)
            state.sample_action(self.rng, vector)
            information_set.choices.append(Choice(len(information_set.choices), [float(number) for number in vector]))
        return list(information_set.choices)

    def choose(self, information_set: InformationSet, choices: list[Choice]) -> Choice:
        """Return one of the available choices, by the rule; ties are broken at random or by the first."""
        if self.settings.rule == "uniform":
            return choices[self.rng.below(len(choices))]
        if self.settings.rule == "regret_matching":
            return choices[draw(self.rng, self.with_exploration(information_set, regret_matching(choices)))]
        scores = [self.score(choice, len(choices)) for choice in choices]
        tied = [choice for choice, score in zip(choices, scores, strict=True) if score == max(scores)]
        return tied[0] if len(tied) == 1 or self.settings.tie_break == "first" else tied[self.rng.below(len(tied))]

    def score(self, choice: Choice, count: int) -> float:
        """Return UCB1: Q + c * sqrt(ln a / n), or PUCT: Q + c(a) * sqrt(a) * P / (1 + n).

        a is the availability of the action, this time included.
        """
        settings, available, visits = self.settings, choice.available + 1.0, choice.visits
        value = self.scale.of(choice.total * (1.0 / visits)) if visits else 0.0
        if settings.rule == "ucb1":
            return (
                value + settings.c * math.sqrt(math.log(available)) * (1.0 / math.sqrt(visits)) if visits else math.inf
            )
        if not visits:
            value = min(max(self.scale.of(self.facts.middle), 0.0), 1.0) if self.scale.normalises else self.facts.middle
        c = settings.c + (math.log((1.0 + available + settings.c_base) / settings.c_base) if settings.c_base else 0.0)
        return value + c * math.sqrt(available) * (1.0 / count) * (1.0 / (1.0 + visits))

    def with_exploration(self, information_set: InformationSet, shares: list[float]) -> list[float]:
        """Return (1 - e) * share + e / count, with e = regret_mix / (1 + n / 100)^(1/3) after n visits."""
        mix = self.settings.regret_mix / (1.0 + 0.01 * information_set.visits) ** (1.0 / 3.0)
        return [(1.0 - mix) * share + mix / len(shares) for share in shares]

    # 2. Evaluate.

    def evaluate(self, state: Any) -> list[float]:
        """Return the value of a state for each player: its rewards, its heuristic, the middle or a rollout."""
        settings, gained, weight, moves = self.settings, [0.0] * self.facts.players, 1.0, 0
        if not state.is_terminal() and settings.rollout_weight == 0.0:
            if settings.evaluate == "heuristic":
                return by_player(self.facts.players, state.heuristic)
            return [self.facts.middle] * self.facts.players
        state = state.copy()
        while not state.is_terminal():
            is_chance = int(state.current_player()) == CHANCE
            if not is_chance and settings.depth is not None and moves >= settings.depth:
                break
            if not is_chance:
                weight, moves = weight * (settings.discount if moves else 1.0), moves + 1
            self.random_step(state)
            gained = [gain + weight * reward for gain, reward in zip(gained, self.step_rewards(state), strict=True)]
        weight *= settings.discount if moves else 1.0
        returns = by_player(self.facts.players, state.rewards if state.is_terminal() else state.heuristic)
        return [gain + weight * value for gain, value in zip(gained, returns, strict=True)]

    def random_step(self, state: Any) -> None:
        """Apply a random move or outcome of a rollout."""
        player = int(state.current_player())
        if player == CHANCE:
            state.apply(self.random_outcome(state))
        elif player == SIMULTANEOUS:
            joint = [self.random_legal(state, mover) for mover in range(self.facts.players)]
            state.apply_joint(np.array(joint, np.int64))
        elif self.facts.action_size:
            vector = np.zeros(self.facts.action_size)
            state.sample_action(self.rng, vector)
            state.apply_vector(vector)
        elif self.settings.policy == "game":
            state.apply(int(state.rollout_action(self.rng)))
        elif hasattr(state, "random_action"):
            state.apply(int(state.random_action(self.rng)))
        else:
            state.apply(self.random_legal(state, player))

    def legal(self, state: Any, mover: int) -> list[int]:
        """Return the legal actions of a player."""
        out = np.zeros(self.facts.num_actions, np.int32)
        simultaneous = state.current_player() == SIMULTANEOUS
        count = state.legal_actions_of(mover, out) if simultaneous else state.legal_actions(out)
        return [int(action) for action in out[: int(count)]]

    def random_legal(self, state: Any, mover: int) -> int:
        """Return a legal action of a player, drawn uniformly."""
        actions = self.legal(state, mover)
        return actions[self.rng.below(len(actions))]

    def random_outcome(self, state: Any) -> int:
        """Return an outcome of chance, drawn by its probability."""
        if hasattr(state, "random_outcome"):
            return int(state.random_outcome(self.rng))
        actions, probabilities = outcomes(self.position, state)
        return actions[draw(self.rng, probabilities)]

    def step_rewards(self, state: Any) -> list[float]:
        """Return the immediate rewards of the last step, one for each player."""
        if not self.game.has("step_rewards"):
            return [0.0] * self.facts.players
        return by_player(self.facts.players, state.step_rewards)

    # 3. Back up.

    def back_up(self, path: list[Step], rewards: list[list[float]], returns: list[float]) -> None:
        """Add a visit to each choice of a path, and the return of its player after it: r + discount * V."""
        for time in range(path[-1].time if path else 0, 0, -1):
            returns = [
                reward + self.settings.discount * value for reward, value in zip(rewards[time], returns, strict=True)
            ]
            for step in reversed([step for step in path if step.time == time]):
                value, choice = returns[step.mover], step.choice
                if self.settings.rule == "regret_matching":
                    self.update_regrets(step.information_set, choice, value)
                for other in step.available:
                    other.available += 1
                choice.visits, choice.total = choice.visits + 1, choice.total + value
                step.information_set.visits += 1
                self.scale.note(choice.total / choice.visits)
        self.visits += 1
        self.totals = plus(self.totals, plus(rewards[0], returns))

    def update_regrets(self, information_set: InformationSet, chosen: Choice, returned: float) -> None:
        """Add to the regret of each action its value minus the expected value of the strategy.

        The value of an action is its mean so far, or the middle. That of the chosen action is corrected by
        (return - value) / probability of the choice, which makes the estimate unbiased.
        """
        choices = information_set.choices
        shares = regret_matching(choices)
        probabilities = self.with_exploration(information_set, shares)
        values = [choice.total / choice.visits if choice.visits else self.facts.middle for choice in choices]
        index = choices.index(chosen)
        values[index] += (returned - values[index]) / probabilities[index]
        expected = added(share * value for share, value in zip(shares, values, strict=True))
        for choice, share, value in zip(choices, shares, values, strict=True):
            choice.strategy += share
            choice.regret += value - expected


def regret_matching(choices: list[Choice]) -> list[float]:
    """Return the share of each action in the positive regrets; equal shares where there are none."""
    positive = [max(0.0, choice.regret) for choice in choices]
    total = added(positive)
    return [regret / total if total > 0.0 else 1.0 / len(choices) for regret in positive]


def _flat(actions: tuple[Any, ...]) -> list[int]:
    """Return the history before the search: joint actions one after the other, and 0 for a continuous action."""
    parts = [part for action in actions for part in (action if isinstance(action, tuple) else (action,))]
    return [part if isinstance(part, int) else 0 for part in parts]
