"""A game that broke a promise inside a kernel, told with its position and the user's own line."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, GameError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.kernels import control as codes
from treetop.search.rule import Rule
from treetop.tree.layout import MAX_CHILDREN
from treetop.types import CHANCE, SIMULTANEOUS

if TYPE_CHECKING:
    from treetop.search.machine import Machine


_REPLAYS = 50


def failure(machine: Machine, error: BaseException | None = None) -> GameError | ConfigError:
    """The error to raise after a kernel came back with bad news, or an exception came out of it."""
    control = machine.control[0]
    game = machine.game
    position, played = (machine.position, []) if machine.tree.holds_views else _replay(machine, int(control["depth"]))
    culprit = int(control["culprit"])
    if error is None and control["status"] == codes.BAD_SCORE:
        return ConfigError(f"the rule {machine.config.rule} gave the move {position.move_text(culprit)} a score that is not a number\n{_shown(position)}")
    facts = game.facts
    if error is not None:
        rule = f", or the rule {machine.config.rule}," if isinstance(machine.config.rule, Rule) else ""
        told = f"a method of {game.name}{rule} failed: {type(error).__name__}: {error}"
    elif control["status"] == codes.BAD_PLAYER:
        told = f"{game.name}.current_player gave {culprit}; players are 0 to {facts.players - 1}"
    elif control["status"] == codes.BAD_CHANCE:
        what = "the probabilities do not sum to 1" if culprit < 0 else f"the probability of the outcome {culprit} is not above 0"
        told = f"{game.name}.chance_outcomes: {what}"
    elif control["status"] == codes.BAD_OUTCOME:
        told = f"{game.name}.chance_outcomes gave the outcome {culprit}, or so many of them; num_outcomes is {facts.num_outcomes}"
    elif control["status"] == codes.BAD_COUNT and culprit < 1:
        told = f"{game.name}.legal_actions gave {culprit} actions in a position that is not terminal; there must be at least one"
    elif control["status"] == codes.BAD_COUNT and MAX_CHILDREN < culprit <= facts.num_actions:
        told = f"{game.name}.legal_actions gave {culprit:,} actions; a node holds at most {MAX_CHILDREN:,}"
    elif control["status"] == codes.BAD_COUNT:
        told = f"{game.name}.legal_actions gave {culprit} actions, but num_actions is {facts.num_actions}"
    elif control["status"] == codes.BAD_ACTION:
        told = f"{game.name}.legal_actions gave the action {culprit}; actions are 0 to {facts.num_actions - 1}"
    elif control["status"] == codes.BAD_REWARD:
        told = f"{game.name}.{'step_rewards' if game.has('step_rewards') else 'rewards'} gave player {culprit} a reward that is not finite"
    else:
        told = f"a game of {game.name} took more than max_length = {facts.max_length} moves"
    line = _own_line(position, machine.seed)
    moves = " ".join(played)
    where = f"\nafter the moves: {moves}" if played else f"\n{'below' if machine.tree.holds_views else 'in'} the position that was searched"
    return GameError(f"{told}{where}{line}\n{_shown(position)}\ntreetop.check finds the shortest such game.")


def _replay(machine: Machine, depth: int) -> tuple[Position, list[str]]:
    """The position at the end of the path that the kernel walked, in plain Python, and its moves."""
    position = machine.position
    played: list[str] = []
    path = machine.scratch.paths[int(machine.control[0]["gathered"])] if machine.gathers else machine.scratch.work.path
    for node in path[1 : depth + 1]:
        action = int(machine.tree.columns.links["action"][node])
        state = position.state
        try:
            played.append(position.move_text(action))
            state.apply(action)
        except Exception:  # noqa: BLE001 - the very failure that is being told; what went before is shown
            break
        position = Position(machine.game, state._states, (*position.actions, action), position.start)
    return position, played


def _own_line(position: Position, seed: int) -> str:
    """The line of the user's code that fails in plain Python, if a few random games from here on find it."""
    facts = position.game.facts
    rng = Rng(seed)
    try:
        for _ in range(_REPLAYS):
            state: Any = position.state
            for _ in range(facts.max_length):
                if state.is_terminal():
                    state.rewards(np.zeros(facts.players))
                    break
                if not _step(state, position.game, rng):
                    return ""
    except Exception as error:  # noqa: BLE001 - any failure of the user's method is what we are after
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"\n{frame.filename}, line {frame.lineno}: {frame.line} ({type(error).__name__}: {error})"
    return ""


def _step(state: Any, game: Game, rng: Rng) -> bool:
    """Make any move that a state allows, in place, and ask what it brought; false where it allows none."""
    facts, player = game.facts, int(state.current_player())
    out = np.zeros(facts.most_children + 1024, np.int32)
    if player == CHANCE and facts.num_outcomes is not None:
        count, most = int(state.chance_outcomes(out, np.zeros(len(out)))), facts.num_outcomes
    elif player == SIMULTANEOUS:
        chosen = []
        for seat in range(facts.players):
            count = int(state.legal_actions_of(seat, out))
            if not 1 <= count <= facts.num_actions:
                return False
            chosen.append(int(out[rng.below(count)]))
        state.apply_joint(np.array(chosen, np.int64))
        return True
    elif facts.action_size is not None:
        vector = np.zeros(facts.action_size)
        state.sample_action(rng, vector)
        state.apply_vector(vector)
        return True
    else:
        count, most = int(state.legal_actions(out)), facts.num_actions
    if not 1 <= count <= most:
        return False
    state.apply(int(out[rng.below(count)]))
    if game.has("step_rewards"):
        state.step_rewards(np.zeros(facts.players))
    return True


def _shown(position: Position) -> str:
    try:
        return str(position)
    except Exception:  # noqa: BLE001 - a broken state may not draw; its fields always print
        return repr(position.state)
