"""Evaluation of a leaf by rollouts, the heuristic or both: a vector of returns, one number a player."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.compiler.intrinsics import local_copy
from treetop.compiler.specialise import by_method
from treetop.kernels.build import Build
from treetop.kernels.chance.outcomes import draw_outcome, is_chance
from treetop.kernels.control import (
    BAD_ACTION,
    BAD_COUNT,
    BAD_OUTCOME,
    BAD_PLAYER,
    COUNT,
    DONE,
    GREEDY_MOVES,
    HEURISTIC,
    OWN_MOVES,
    RANDOM_MOVES,
    SUM,
    TOO_LONG,
    UNIFORM,
)
from treetop.kernels.expand import heuristic
from treetop.kernels.moves import random_special_step
from treetop.kernels.rewards import collect, outcome
from treetop.kernels.rules.rave import clear_played, note_played


@inline_kernel
def _own_random_action(state: Any, actions: Any, rng: Any) -> int:
    return int(state.random_action(rng))


@inline_kernel
def _listed_random_action(state: Any, actions: Any, rng: Any) -> int:
    count = np.int64(state.legal_actions(actions))
    return int(actions[rng.below(count)]) if 0 < count <= len(actions) else int(-1 - max(count, np.int64(0)))


random_action = by_method("random_action", yes=_own_random_action, no=_listed_random_action)
"""Return a uniformly random legal action: by the game's own method, or by listing them all.

A wrong number of actions n is returned as -1 - n.
"""


@inline_kernel
def _own_rollout_action(state: Any, actions: Any, rng: Any) -> int:
    return int(state.rollout_action(rng))


rollout_action = by_method("rollout_action", yes=_own_rollout_action, no=_listed_random_action)
"""Return a move by the game's own rollout policy."""


@inline_kernel
def action_by_history(control: Any, work: Any, state: Any, mover: Any, rng: Any) -> int:
    """Return a move by the table of past moves (MAST): epsilon-greedy, or by softmax."""
    count = np.int64(state.legal_actions(work.actions))
    if count < 1 or count > control.num_actions:
        return int(-1 - max(count, np.int64(0)))
    if mover < 0 or mover >= control.players:
        control.status, control.culprit = BAD_PLAYER, mover
        return 0
    for index in range(count):
        if work.actions[index] < 0 or work.actions[index] >= control.num_actions:
            control.status, control.culprit = BAD_ACTION, work.actions[index]
            return 0
    greedy = control.rollout_policy == GREEDY_MOVES
    if greedy and rng.random() < control.rollout_epsilon:
        return int(work.actions[rng.below(count)])
    highest = -np.inf
    for index in range(count):
        action = work.actions[index]
        seen = work.history[COUNT, mover, action]
        work.scores[index] = work.history[SUM, mover, action] / seen if seen > 0.0 else control.middle
        highest = max(highest, work.scores[index])
    if greedy:
        equal = 0
        for index in range(count):
            equal += work.scores[index] == highest
        turn = rng.below(equal)
        for index in range(count):
            if work.scores[index] == highest:
                if turn == 0:
                    return int(work.actions[index])
                turn -= 1
    total = 0.0
    for index in range(count):
        work.scores[index] = math.exp((work.scores[index] - highest) / control.rollout_temperature)
        total += work.scores[index]
    drawn = rng.random() * total
    for index in range(count - 1):
        drawn -= work.scores[index]
        if drawn < 0.0:
            return int(work.actions[index])
    return int(work.actions[count - 1])


def make_rollout(build: Build) -> CompiledFunction[..., Any]:
    """Return the rollout of a build, which notes the moves that the build needs."""
    amaf, full, stochastic, sets = build.amaf, build.full, build.stochastic, build.sets
    options = full or sets

    @inline_kernel
    def choose(control: Any, work: Any, state: Any, rng: Any) -> Any:
        if options and control.rollout_policy == OWN_MOVES:
            return np.int64(rollout_action(state, work.actions, rng))
        if full and control.rollout_policy != RANDOM_MOVES:
            return np.int64(action_by_history(control, work, state, np.int64(state.current_player()), rng))
        return np.int64(random_action(state, work.actions, rng))

    @inline_kernel
    def rollout(control: Any, work: Any, start: Any, depth: int, rewards: Any, rng: Any) -> None:
        """Play moves to the end of the game, or to the depth where the heuristic takes over."""
        state = local_copy(start)
        left = control.max_length - depth
        made = 0
        if stochastic:
            work.gain[0, :] = 0.0
        worth = 1.0  # of a reward of the present step: of an action and the outcomes of chance that follow it
        few = amaf and control.num_actions <= 64 and control.players <= 2  # then the bit sets fit into two registers
        ours, theirs = np.uint64(0), np.uint64(0)
        notes = amaf and (not full or control.notes_moves)
        while not state.is_terminal():
            if left <= 0:
                control.status = TOO_LONG
                return
            left -= 1
            if stochastic and is_chance(state):
                lot = draw_outcome(state, control, work, rng)
                if control.status != DONE:
                    return
                if lot < 0 or lot >= control.num_outcomes:
                    control.status, control.culprit = BAD_OUTCOME, lot
                    return
                state.apply(lot)
                if not receive(control, work, state, worth):
                    return
                continue
            if options and made >= control.rollout_depth:
                heuristic(state, control, rewards)
                break
            if sets and random_special_step(control, work, state, rng):
                if control.status != DONE:
                    return
            else:
                action = choose(control, work, state, rng)
                if full and control.status != DONE:
                    return
                if action < 0:
                    control.status, control.culprit = BAD_COUNT, -1 - action
                    return
                if action >= control.num_actions:
                    control.status, control.culprit = BAD_ACTION, action
                    return
                if amaf and few and not full:
                    bit = np.uint64(1) << (np.uint64(action) & np.uint64(63))
                    first = np.int64(state.current_player()) == 0
                    ours |= bit if first else np.uint64(0)
                    theirs |= np.uint64(0) if first else bit
                elif notes:
                    mover = np.int64(state.current_player())
                    if mover < 0 or mover >= control.players:
                        control.status, control.culprit = BAD_PLAYER, mover
                        return
                    note_played(work, mover, action)
                    if full:
                        place = depth + made
                        work.trail[0, place], work.trail[1, place] = mover, action
                state.apply(action)
            if stochastic and made > 0:
                worth *= control.discount
            made += 1
            if stochastic and not receive(control, work, state, worth):
                return
        else:
            outcome(control, state, rewards)
        if amaf and few and not full:
            work.played[0, 0] = ours
            work.played[len(work.played) - 1, 0] |= theirs
        if full:
            control.trailed = made
        if stochastic:
            if made > 0:
                worth *= control.discount
            for player in range(len(rewards)):
                rewards[player] = work.gain[0, player] + worth * rewards[player]
        elif full:
            discount(control, rewards, made)

    @inline_kernel
    def receive(control: Any, work: Any, state: Any, worth: float) -> bool:
        """Add the immediate rewards of the last step of a rollout; return whether they are numbers."""
        if control.step_rewards:
            collect(state, control, work.gain[1])
            for player in range(work.gain.shape[1]):
                work.gain[0, player] += worth * work.gain[1, player]
        return bool(control.status == DONE)

    return rollout


@inline_kernel
def discount(control: Any, rewards: Any, moves: Any) -> None:
    """Discount returns by a number of moves."""
    if control.discount != 1.0:
        worth = 1.0
        for _ in range(moves):
            worth *= control.discount
        for player in range(len(rewards)):
            rewards[player] *= worth


def make_evaluate(build: Build) -> CompiledFunction[..., None]:
    """Return how a build evaluates a leaf that is not the end of the game."""
    rollout = make_rollout(build)
    options = build.full or build.sets

    @kernel
    def several_rollouts(control: Any, work: Any, state: Any, depth: Any, rewards: Any, rng: Any) -> None:
        """Write the mean of some rollouts. Only the last one's moves are kept."""
        rewards[:] = 0.0
        for _ in range(control.rollout_count):
            clear_played(work)
            rollout(control, work, state, depth, work.trial, rng)
            if control.status != DONE:
                return
            for player in range(len(rewards)):
                rewards[player] += work.trial[player]
        for player in range(len(rewards)):
            rewards[player] /= control.rollout_count

    @inline_kernel
    def evaluate(control: Any, work: Any, state: Any, depth: Any, rewards: Any, rng: Any) -> None:
        if options:
            weight = control.rollout_weight
            if weight > 0.0:
                if control.rollout_count > 1:
                    several_rollouts(control, work, state, depth, rewards, rng)
                else:
                    rollout(control, work, state, depth, rewards, rng)
            if weight < 1.0 and control.status == DONE:
                if control.evaluator == HEURISTIC:
                    heuristic(state, control, work.trial)
                else:
                    work.trial[:] = control.middle
                for player in range(len(rewards)):
                    rewards[player] = (
                        work.trial[player]
                        if weight == 0.0
                        else weight * rewards[player] + (1.0 - weight) * work.trial[player]
                    )
        elif control.evaluator == UNIFORM:
            rewards[:] = control.middle
        else:
            rollout(control, work, state, depth, rewards, rng)

    return evaluate
