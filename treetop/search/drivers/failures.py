"""A game that broke a promise inside a kernel, told with its position and the user's own line."""

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
    """The error to raise after a kernel came back with bad news, or an exception came out of it."""
    control = driver.control[0]
    game = driver.game
    position, played = (
        (driver.position, []) if driver.tree.has_information_sets else _replay(driver, int(control["depth"]))
    )
    culprit = int(control["culprit"])
    if error is None and control["status"] == codes.BAD_SCORE:
        return ConfigError(
            f"the rule {driver.config.rule.name} gave the move {position.move_text(culprit)} a score that is not a number\n{_shown(position)}"
        )
    facts = game.facts
    if error is not None:
        rule = f", or the rule {driver.config.rule.name}," if isinstance(driver.config.rule, OwnRule) else ""
        told = f"a method of {game.name}{rule} failed: {type(error).__name__}: {error}"
    elif control["status"] == codes.BAD_PLAYER:
        told = f"{game.name}.current_player gave {culprit}; players are 0 to {facts.players - 1}"
    elif control["status"] == codes.BAD_CHANCE:
        what = (
            "the probabilities do not sum to 1"
            if culprit < 0
            else f"the probability of the outcome {culprit} is not above 0"
        )
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
        told = (
            f"{game.name}.{'step_rewards' if game.has('step_rewards') else 'rewards'} gave player {culprit} a reward that is not finite"
            f"{'' if game.has('step_rewards') else f' or not within {facts.rewards[0]:g} to {facts.rewards[1]:g}'}"
        )
    elif control["status"] == codes.BAD_VALUE:
        low, high = facts.value_range(step_rewards=game.has("step_rewards"), discount=driver.config.values.discount)
        told = f"{game.name}.heuristic gave player {culprit} the value {float(control['bad_value']):g}; values are from {low:g} to {high:g} by the game's rewards={facts.rewards}"
    else:
        told = f"a game of {game.name} took more than max_length = {facts.max_length} moves"
    line = failing_line(position, driver.seed, culprit)
    moves = " ".join(played)
    where = (
        f"\nafter the moves: {moves}"
        if played
        else f"\n{'below' if driver.tree.has_information_sets else 'in'} the position that was searched"
    )
    return GameError(f"{told}{where}{line}\n{_shown(position)}\ntreetop.check finds the shortest such game.")


def _replay(driver: GameDriver, depth: int) -> tuple[Position, list[str]]:
    """The position at the end of the path that the kernel walked, in plain Python, and its moves."""
    position = driver.position
    played: list[str] = []
    path = driver.path()
    for node in path[1 : depth + 1]:
        action = int(driver.tree.columns.links["action"][node])
        state = position.state
        try:
            played.append(position.move_text(action))
            state.apply(action)
        except Exception:  # noqa: BLE001 - the very failure that is being told; what went before is shown
            break
        position = Position(driver.game, state._states, (*position.actions, action), position.start)
    return position, played


def _shown(position: Position) -> str:
    try:
        return str(position)
    except Exception:  # noqa: BLE001 - a broken state may not draw; its fields always print
        return repr(position.state)
