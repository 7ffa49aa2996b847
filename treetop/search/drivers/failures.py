"""Errors for games that violate their contract inside a kernel, with the position and the user's own line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treetop.errors import ConfigError, GameError
from treetop.game.position import Position
from treetop.game.replay import failing_line
from treetop.kernels import control as codes
from treetop.kernels.rules.own import OwnRule
from treetop.tree.layout import MAX_CHILDREN

if TYPE_CHECKING:
    from treetop.search.drivers.game import GameDriver


def failure(driver: GameDriver, error: BaseException | None = None) -> GameError | ConfigError:
    """Return the error to raise after a kernel has reported a failure, or has raised an exception."""
    control = driver.control[0]
    game = driver.game
    position, played = (
        (driver.position, []) if driver.tree.has_information_sets else _replay(driver, int(control["depth"]))
    )
    culprit = int(control["culprit"])
    if error is None and control["status"] == codes.BAD_SCORE:
        return ConfigError(
            f"the rule {driver.config.rule.name} gave the move {position.move_text(culprit)} a score that is not a "
            f"number\n{_shown(position)}"
        )
    facts = game.facts
    if error is not None:
        rule = f", or the rule {driver.config.rule.name}," if isinstance(driver.config.rule, OwnRule) else ""
        what = f"a method of {game.name}{rule} failed: {type(error).__name__}: {error}"
    elif control["status"] == codes.BAD_PLAYER:
        what = f"{game.name}.current_player gave {culprit}; players are 0 to {facts.players - 1}"
    elif control["status"] == codes.BAD_CHANCE:
        reason = f"the probability of the outcome {culprit} is not above 0"
        reason = "the probabilities do not sum to 1" if culprit < 0 else reason
        what = f"{game.name}.chance_outcomes: {reason}"
    elif control["status"] == codes.BAD_OUTCOME:
        what = (
            f"{game.name}.chance_outcomes gave the outcome {culprit}, or that many of them; "
            f"num_outcomes is {facts.num_outcomes}"
        )
    elif control["status"] == codes.BAD_COUNT and culprit < 1:
        what = (
            f"{game.name}.legal_actions gave {culprit} actions in a position that is not terminal; "
            "there must be at least one"
        )
    elif control["status"] == codes.BAD_COUNT and MAX_CHILDREN < culprit <= facts.num_actions:
        what = f"{game.name}.legal_actions gave {culprit:,} actions; a node holds at most {MAX_CHILDREN:,}"
    elif control["status"] == codes.BAD_COUNT:
        what = f"{game.name}.legal_actions gave {culprit} actions, but num_actions is {facts.num_actions}"
    elif control["status"] == codes.BAD_ACTION:
        what = f"{game.name}.legal_actions gave the action {culprit}; actions are 0 to {facts.num_actions - 1}"
    elif control["status"] == codes.BAD_REWARD:
        method, bounds = "rewards", f" or not within {facts.rewards[0]:g} to {facts.rewards[1]:g}"
        if game.has("step_rewards"):
            method, bounds = "step_rewards", ""
        what = f"{game.name}.{method} gave player {culprit} a reward that is not finite{bounds}"
    elif control["status"] == codes.BAD_VALUE:
        low, high = facts.value_range(step_rewards=game.has("step_rewards"), discount=driver.config.values.discount)
        what = (
            f"{game.name}.heuristic gave player {culprit} the value {float(control['bad_value']):g}; values are from "
            f"{low:g} to {high:g} by the game's rewards={facts.rewards}"
        )
    else:
        what = f"a game of {game.name} took more than max_length = {facts.max_length} moves"
    line = failing_line(position, driver.seed, culprit)
    where = f"{'below' if driver.tree.has_information_sets else 'in'} the position that was searched"
    if played:
        where = f"after the moves: {' '.join(played)}"
    return GameError(f"{what}\n{where}{line}\n{_shown(position)}\ntreetop.check may find a shorter game.")


def _replay(driver: GameDriver, depth: int) -> tuple[Position, list[str]]:
    """Return the position at the end of the kernel's path, replayed in plain Python, and its moves."""
    position = driver.position
    played: list[str] = []
    path = driver.path()
    for node in path[1 : depth + 1]:
        action = int(driver.tree.columns.links["action"][node])
        state = position.state
        try:
            played.append(position.move_text(action))
            state.apply(action)
        except Exception:  # noqa: BLE001 - the failure to report: the position before it is shown
            break
        position = Position(driver.game, state._states, (*position.actions, action), position.start)
    return position, played


def _shown(position: Position) -> str:
    try:
        return str(position)
    except Exception:  # noqa: BLE001 - the fields of an invalid state can always be printed
        return repr(position.state)
