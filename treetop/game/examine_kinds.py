"""Checks of positions for certain kinds of games.

The kinds are chance, immediate rewards, simultaneous moves, continuous actions and imperfect information.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game import probe
from treetop.game.contract import ContractError, guard
from treetop.game.position import Position
from treetop.types import NONE, SIMULTANEOUS, FloatArray

if TYPE_CHECKING:
    from treetop.game.examiner import Examiner

_SUM = 1e-9  # the tolerance of the sum of probabilities
_CHANCES = 8  # the number of positions in which many outcomes are drawn
_DRAWS = 400
_MOST_KNOWN = 1_000_000


def examine_chance(examiner: Examiner, position: Position, rng: Rng) -> list[int]:
    """Check the outcomes of chance and their probabilities, and return the outcomes."""
    size = examiner.game.facts.num_outcomes or 0
    actions, probabilities = np.zeros(size, np.int32), np.zeros(size)
    count = examiner.call_whole(position, "chance_outcomes", actions, probabilities)
    compiled_actions, compiled_probabilities = np.zeros(size, np.int32), np.zeros(size)
    examiner.findings["rng"] = rng.word
    examiner.call_compiled(
        position, "chance_outcomes", probe.chance, examiner.findings, compiled_actions, compiled_probabilities
    )
    compiled_count = int(examiner.findings[0]["count"])
    outcomes = examiner.listed("chance_outcomes", actions, count, "outcomes", "chance")
    chances = probabilities[:count].tolist()
    for outcome, chance in zip(outcomes, chances, strict=True):
        if not 0.0 < chance <= 1.0 + _SUM:
            raise ContractError(
                "chance",
                f"the outcome {outcome} has the probability {chance:g}; list only outcomes with positive probabilities",
                "chance_outcomes",
            )
    if abs(math.fsum(chances) - 1.0) > _SUM:
        raise ContractError(
            "chance", f"the probabilities {chances} sum to {math.fsum(chances):.12g}, not to 1", "chance_outcomes"
        )
    examiner.same(
        "chance_outcomes",
        (compiled_actions[:compiled_count].tolist(), compiled_probabilities[:compiled_count].tolist()),
        (outcomes, chances),
    )
    if examiner.game.has("random_outcome"):
        _examine_draws(examiner, position, rng, dict(zip(outcomes, chances, strict=True)))
    return outcomes


def _examine_draws(examiner: Examiner, position: Position, rng: Rng, chances: dict[int, float]) -> None:
    finding, own = examiner.findings[0], Rng.from_word(rng.word)
    drawn = examiner.call_whole(position, "random_outcome", own)
    examiner.same("random_outcome", (int(finding["drawn"]), int(finding["rng"])), (drawn, own.word))
    rng.bits()
    many = Rng.from_word(rng.word)
    seen = [drawn]
    if examiner.compiled and examiner.chances < _CHANCES:
        examiner.chances += 1
        seen += [int(examiner.call(position, "random_outcome", many)) for _ in range(_DRAWS)]
    strange = [outcome for outcome in seen if outcome not in chances]
    if strange:
        raise ContractError(
            "draws",
            f"random_outcome returned {strange[0]}, which is not among the outcomes {list(chances)}",
            "random_outcome",
        )
    for outcome, chance in chances.items():
        times, expected = seen[1:].count(outcome), _DRAWS * chance
        # Six standard deviations: correct draws exceed them less than once in a hundred million times.
        if len(seen) > 1 and abs(times - expected) > 6.0 * math.sqrt(expected * (1.0 - min(1.0, chance))) + 3.0:
            raise ContractError(
                "draws",
                f"random_outcome returned {outcome} {times} times in {_DRAWS} draws; its probability is {chance:g}",
                "random_outcome",
            )


def examine_step_rewards(examiner: Examiner, position: Position) -> FloatArray:
    """Check the immediate rewards of the last action and return them, one number a player."""
    out, compiled = np.zeros(examiner.game.facts.players), np.zeros(examiner.game.facts.players)
    examiner.call(position, "step_rewards", out)
    examiner.call_compiled(position, "step_rewards", probe.steps, compiled)
    if not np.isfinite(out).all():
        raise ContractError("rewards", f"the immediate rewards are {out.tolist()}; they must be finite", "step_rewards")
    examiner.same("step_rewards", compiled.tolist(), out.tolist())
    return out


def examine_joint_actions(examiner: Examiner, position: Position) -> tuple[list[int], ...]:
    """Check the legal actions of each player in a position with simultaneous moves, and return them."""
    lists = []
    for player in range(examiner.game.facts.players):
        out, compiled = (
            np.zeros(examiner.game.facts.num_actions, np.int32),
            np.zeros(examiner.game.facts.num_actions, np.int32),
        )
        if not examiner.compiled:
            out[:] = NONE  # an entry that is counted but never written is then out of range
        count = examiner.call_whole(position, "legal_actions_of", player, out)
        examiner.call_compiled(position, "legal_actions_of", probe.actions_of, examiner.findings, player, compiled)
        legal = examiner.listed(f"legal_actions_of({player})", out, count, "actions")
        examiner.same("legal_actions_of", compiled[: int(examiner.findings[0]["count"])].tolist(), legal)
        lists.append(legal)
    return tuple(lists)


def examine_sampled_action(examiner: Examiner, position: Position, rng: Rng) -> tuple[float, ...]:
    """Check and return a continuous action that the game samples."""
    size, own = examiner.game.facts.action_size or 1, Rng.from_word(rng.word)
    values, compiled = np.zeros(size), np.zeros(size)
    examiner.call(position, "sample_action", own, values)
    examiner.findings["rng"] = rng.word
    examiner.call_compiled(position, "sample_action", probe.sample, examiner.findings, compiled)
    if not np.isfinite(values).all():
        raise ContractError(
            "vectors", f"sample_action wrote {values.tolist()}; the numbers must be finite", "sample_action"
        )
    examiner.same("sample_action", (compiled.tolist(), int(examiner.findings[0]["rng"])), (values.tolist(), own.word))
    rng.bits()
    return tuple(values.tolist())


def examine_recall(examiner: Examiner, position: Position, mover: int, lists: tuple[list[int], ...]) -> None:
    """Check perfect recall: an information set of the player to move has one set of actions and one history."""
    deciding = range(examiner.game.facts.players) if mover == SIMULTANEOUS else [mover] if mover >= 0 else []
    for seat, player in enumerate(deciding):
        examiner.call_compiled(position, "information", probe.information, examiner.findings, player)
        key = int(examiner.findings[0]["key"])
        about = (examiner.pasts[player], tuple(sorted(lists[seat])) if lists else ())
        if len(examiner.known) < _MOST_KNOWN and examiner.known.setdefault((player, key), about) != about:
            what = "legal actions" if examiner.known[player, key][0] == examiner.pasts[player] else "histories"
            raise ContractError(
                "recall",
                f"two positions with the same information for player {player} ({key}) have different {what}",
                "information",
            )


def record_history(examiner: Examiner, position: Position, action: Any) -> None:
    """Add the information and the action of each player who chose to the player's history."""
    mover = position.player
    deciding = range(examiner.game.facts.players) if mover == SIMULTANEOUS else [mover] if mover >= 0 else []
    for seat, player in enumerate(deciding):
        done = action[seat] if mover == SIMULTANEOUS else action
        examiner.pasts[player] = hash((examiner.pasts[player], position.information(player), done))


def examine_determinization(examiner: Examiner, position: Position, rng: Rng, *, terminal: bool, mover: int) -> None:
    """Check that determinizations are equal in both modes and consistent with each player's information."""
    for player in range(examiner.game.facts.players):
        known = examiner.call_whole(position, "information", player) & (2**64 - 1)
        examiner.call_compiled(position, "information", probe.information, examiner.findings, player)
        examiner.same("information", int(examiner.findings[0]["key"]), known)
        other = _redrawn(examiner, position, rng, player)
        change = _changed(examiner, position, other, player, terminal=terminal, mover=mover)
        if change:
            raise ContractError(
                "determinize",
                f"determinize for player {player} changed {change}; the determinization is\n{other.state!r}",
                "determinize",
            )


def _redrawn(examiner: Examiner, position: Position, rng: Rng, player: int) -> Position:
    state, own = position.state, Rng.from_word(rng.word)
    guard("determinize", lambda: state.determinize(player, own))
    other = Position(examiner.game, state._states)
    if examiner.compiled:
        examiner.states[:] = position.record
        examiner.findings["rng"] = rng.word
        guard(
            "determinize",
            lambda: examiner.engine.entry(probe.redraw)(examiner.states, examiner.findings, player),
            compiled=True,
        )
        examiner.same_state("determinize", other)
        examiner.same("determinize", int(examiner.findings[0]["rng"]), own.word)
    rng.bits()
    return other


def _changed(
    examiner: Examiner, position: Position, other: Position, player: int, *, terminal: bool, mover: int
) -> str:
    """Return a description of what a determinization wrongly changed, or an empty text."""
    if other.is_terminal != terminal:
        return f"whether the game is over from {terminal} to {not terminal}"
    if guard("information", lambda: other.information(player)) != position.information(player):
        return "that player's information"
    if terminal:
        return ""
    if other.player != mover:
        return f"the player to move from {mover} to {other.player}"
    if mover in (player, SIMULTANEOUS) and examiner.game.facts.action_size is None:
        before, after = (
            sorted(position.legal_actions(player)),
            sorted(guard("legal_actions", lambda: other.legal_actions(player))),
        )
        return f"that player's legal actions from {before} to {after}" if before != after else ""
    return ""
