"""Search over what players see, in plain Python: what the compiled one must equal, view by view.

A view is all that one player has seen when it is to choose: by the game's own `information`, or by all that was played. Many positions look the same
to a player, so views are found in a dictionary and not below each other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.game.position import Position
from treetop.reference.arithmetic import added, plus
from treetop.reference.chance import drawn
from treetop.reference.settings import Settings
from treetop.reference.values import Scale
from treetop.reference.view_moves import Moves
from treetop.reference.view_table import Choice, Made, View, mixture
from treetop.types import CHANCE, SIMULTANEOUS

Seen = tuple[int, Any]
"""Who is to choose, and what has been seen: the game's key, or the way there."""
_WIDENING = 2.0  # of actions that are drawn, where nothing else is said


class ViewSearch(Moves):
    """Choose view by view until one is new, evaluate there, and tell every choice what came of it."""

    def __init__(self, position: Position, settings: Settings, seed: int, player: int) -> None:
        super().__init__(position, settings, seed)
        self.player = player
        self.scale = Scale(settings, self.facts)
        self.views: dict[Seen, View] = {}
        self.totals, self.visits = [0.0] * self.facts.players, 0

    def run(self, simulations: int) -> None:
        """Run so many simulations. What the searcher cannot know is drawn anew for each."""
        for _ in range(simulations):
            state = self.position.state
            if self.game.has("determinize"):
                state.determinize(self.player, self.rng)
            made, steps = self.select(state)
            self.back_up(made, steps, self.evaluate(state))

    def select(self, state: Any) -> tuple[list[Made], list[list[float]]]:
        """The choices on the way to a new view or to the end, and what each time brought to every player, the chance after it included."""
        made, steps, way = list[Made](), [[0.0] * self.facts.players], tuple(_flat(self.position.actions))
        while not state.is_terminal():
            player = int(state.current_player())
            if player == CHANCE:
                lot = self.random_outcome(state) if self.settings.chance_widening is None else self.followed(state, way)
                state.apply(lot)
                way += () if self.settings.chance == "open_loop" else (lot,)
                steps[-1] = plus(steps[-1], self.received(state))
                continue
            movers = range(self.facts.players) if player == SIMULTANEOUS else [player]
            keys = [self.key(state, mover, way) for mover in movers]
            fresh = [key not in self.views for key in keys]
            views = [self.views.setdefault(key, View()) for key in keys]
            offers = [
                [] if self.facts.action_size else view.known(self.legal(state, mover))
                for mover, view in zip(movers, views, strict=True)
            ]
            if any(fresh):
                break
            time = len(steps)
            for mover, view, offered in zip(movers, views, offers, strict=True):
                here = self.widened(view, state) if self.facts.action_size else offered
                made.append(Made(time, mover, view, self.pick(view, here), here))
            chosen = made[-len(movers) :]
            way += tuple(entry.choice.action for entry in chosen)
            if player == SIMULTANEOUS:
                state.apply_joint(np.array([entry.choice.action for entry in chosen], np.int64))
            elif self.facts.action_size:
                state.apply_vector(np.array(chosen[0].choice.vector))
            else:
                state.apply(chosen[0].choice.action)
            steps.append(self.received(state))
        return made, steps

    def followed(self, state: Any, way: tuple[int, ...]) -> int:
        """An outcome: a new one while fewer than max(1, ceil(k * n^power)) have come after n visits, else one of those, as often as they were drawn."""
        view = self.views.setdefault((CHANCE, way), View())
        if len(view.choices) < max(
            1, math.ceil((self.settings.chance_widening or 0.0) * view.visits**self.settings.widening_power)
        ):
            choice = view.known([self.random_outcome(state)])[0]
            choice.available += 1
        else:
            each = [choice for choice in view.choices for _ in range(choice.available)]
            choice = each[self.rng.below(len(each))]
        view.visits, choice.visits = view.visits + 1, choice.visits + 1
        return choice.action

    def key(self, state: Any, mover: int, way: tuple[int, ...]) -> Seen:
        """A player chooses by what it has seen itself, or by what the searcher has."""
        viewer = mover if self.settings.observers == "multiple" else self.player
        return mover, int(state.information(viewer)) if self.game.has("information") else way

    def widened(self, view: View, state: Any) -> list[Choice]:
        """All actions of real numbers that were drawn; one more while there are fewer than max(1, ceil(k * n^power)) after n visits."""
        factor = _WIDENING if self.settings.widening is None else self.settings.widening
        if len(view.choices) < max(1, math.ceil(factor * max(view.visits, 1) ** self.settings.widening_power)):
            vector = np.zeros(self.facts.action_size or 0)
            state.sample_action(self.rng, vector)
            view.choices.append(Choice(len(view.choices), [float(number) for number in vector]))
        return list(view.choices)

    # How a player chooses.

    def pick(self, view: View, offered: list[Choice]) -> Choice:
        """One of the actions that are there, by the rule; ties go to the seed or to the first."""
        if self.settings.rule == "uniform":
            return offered[self.rng.below(len(offered))]
        if self.settings.rule == "regret_matching":
            return offered[drawn(self.rng, self.explored(view, mixture(offered)))]
        scores = [self.score(choice, len(offered)) for choice in offered]
        tied = [choice for choice, score in zip(offered, scores, strict=True) if score == max(scores)]
        return tied[0] if len(tied) == 1 or self.settings.tie_break == "first" else tied[self.rng.below(len(tied))]

    def score(self, choice: Choice, count: int) -> float:
        """UCB1: Q + c * sqrt(ln a / n), PUCT: Q + c(a) * sqrt(a) * P / (1 + n), with a how often it was there, this time included."""
        settings, there, visits = self.settings, choice.available + 1.0, choice.visits
        value = self.scale.of(choice.total / visits) if visits else 0.0
        if settings.rule == "ucb1":
            return value + settings.c * math.sqrt(math.log(there) / visits) if visits else math.inf
        if not visits:
            value = min(max(self.scale.of(self.facts.middle), 0.0), 1.0) if self.scale.normalises else self.facts.middle
        c = settings.c + (math.log((1.0 + there + settings.c_base) / settings.c_base) if settings.c_base else 0.0)
        return value + c * math.sqrt(there) * (1.0 / count) / (1.0 + visits)

    def explored(self, view: View, shares: list[float]) -> list[float]:
        """(1 - e) * share + e / count, with e = regret_mix / (1 + n / 100)^(1/3) after n visits of the view: what is tried fades."""
        mix = self.settings.regret_mix / (1.0 + 0.01 * view.visits) ** (1.0 / 3.0)
        return [(1.0 - mix) * share + mix / len(shares) for share in shares]

    # What came of it.

    def back_up(self, made: list[Made], steps: list[list[float]], rewards: list[float]) -> None:
        """One visit more for every choice, and for its player what came after it: r + discount * V."""
        for time in range(made[-1].time if made else 0, 0, -1):
            rewards = [
                brought + self.settings.discount * reward for brought, reward in zip(steps[time], rewards, strict=True)
            ]
            for entry in reversed([entry for entry in made if entry.time == time]):
                worth, choice = rewards[entry.mover], entry.choice
                if self.settings.rule == "regret_matching":
                    self.learn(entry.view, choice, worth)
                for other in entry.offered:
                    other.available += 1
                choice.visits, choice.total = choice.visits + 1, choice.total + worth
                entry.view.visits += 1
                self.scale.note(choice.total / choice.visits)
        self.visits += 1
        self.totals = plus(self.totals, plus(steps[0], rewards))

    def learn(self, view: View, chosen: Choice, worth: float) -> None:
        """Regret: what an action would have brought less what the strategy brings. An action is worth its mean so far, or the middle.

        The chosen one is worth (return - that) / the chance with which it was tried more, which makes the estimate right on average.
        """
        shares = mixture(view.choices)
        tried = self.explored(view, shares)
        values = [choice.total / choice.visits if choice.visits else self.facts.middle for choice in view.choices]
        index = view.choices.index(chosen)
        values[index] += (worth - values[index]) / tried[index]
        expected = added(share * value for share, value in zip(shares, values, strict=True))
        for choice, share, value in zip(view.choices, shares, values, strict=True):
            choice.strategy += share
            choice.regret += value - expected


def _flat(actions: tuple[Any, ...]) -> list[int]:
    """What was played before, moves made at once one after the other; of moves of real numbers only how many numbers it were."""
    parts = [part for action in actions for part in (action if isinstance(action, tuple) else (action,))]
    return [part if isinstance(part, int) else 0 for part in parts]
