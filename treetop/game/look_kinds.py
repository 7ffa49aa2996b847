"""What the conformance check examines in games of certain kinds: chance, step rewards, simultaneous moves, vectors, hidden information."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game import probe
from treetop.game.broken import BrokenError, guard
from treetop.game.position import Position
from treetop.types import NONE, SIMULTANEOUS, FloatArray

if TYPE_CHECKING:
    from treetop.game.looks import Looks

_SUM = 1e-9  # how far the probabilities of chance may lie from a sum of one
_CHANCES = 8  # positions in which many outcomes are drawn
_DRAWS = 400
_MOST_KNOWN = 1_000_000


def look_at_chance(looks: Looks, position: Position, rng: Rng) -> list[int]:
    """The outcomes of chance, once they and their probabilities are known to be right."""
    size = looks.game.facts.num_outcomes or 0
    actions, probabilities = np.zeros(size, np.int32), np.zeros(size)
    count = looks.asked_whole(position, "chance_outcomes", actions, probabilities)
    compiled_actions, compiled_probabilities = np.zeros(size, np.int32), np.zeros(size)
    looks.findings["rng"] = rng.word
    looks.asked_compiled(
        position, "chance_outcomes", probe.chance, looks.findings, compiled_actions, compiled_probabilities
    )
    compiled_count = int(looks.findings[0]["count"])
    outcomes = looks.listed("chance_outcomes", actions, count, "outcomes", "chance")
    chances = probabilities[:count].tolist()
    for outcome, chance in zip(outcomes, chances, strict=True):
        if not 0.0 < chance <= 1.0 + _SUM:
            raise BrokenError(
                "chance",
                f"the outcome {outcome} has the probability {chance:g}; one that cannot happen is not listed",
                "chance_outcomes",
            )
    if abs(math.fsum(chances) - 1.0) > _SUM:
        raise BrokenError(
            "chance", f"the probabilities {chances} sum to {math.fsum(chances):.12g}, not to 1", "chance_outcomes"
        )
    looks.same(
        "chance_outcomes",
        (compiled_actions[:compiled_count].tolist(), compiled_probabilities[:compiled_count].tolist()),
        (outcomes, chances),
    )
    if looks.game.has("random_outcome"):
        _drawn(looks, position, rng, dict(zip(outcomes, chances, strict=True)))
    return outcomes


def _drawn(looks: Looks, position: Position, rng: Rng, chances: dict[int, float]) -> None:
    finding, own = looks.findings[0], Rng.from_word(rng.word)
    drawn = looks.asked_whole(position, "random_outcome", own)
    looks.same("random_outcome", (int(finding["drawn"]), int(finding["rng"])), (drawn, own.word))
    rng.bits()
    many = Rng.from_word(rng.word)
    seen = [drawn]
    if looks.compiled and looks.chances < _CHANCES:
        looks.chances += 1
        seen += [int(looks.asked(position, "random_outcome", many)) for _ in range(_DRAWS)]
    strange = [outcome for outcome in seen if outcome not in chances]
    if strange:
        raise BrokenError(
            "chance",
            f"random_outcome gave {strange[0]}, which is not among the outcomes {list(chances)}",
            "random_outcome",
        )
    for outcome, chance in chances.items():
        times, expected = seen[1:].count(outcome), _DRAWS * chance
        # Six standard deviations: a right draw is that far off less often than once in a hundred million times.
        if len(seen) > 1 and abs(times - expected) > 6.0 * math.sqrt(expected * (1.0 - min(1.0, chance))) + 3.0:
            raise BrokenError(
                "chance",
                f"random_outcome gave {outcome} {times} times in {_DRAWS} draws, though its probability is {chance:g}",
                "random_outcome",
            )


def look_at_steps(looks: Looks, position: Position) -> FloatArray:
    """What each player received by the last action."""
    out, compiled = np.zeros(looks.game.facts.players), np.zeros(looks.game.facts.players)
    looks.asked(position, "step_rewards", out)
    looks.asked_compiled(position, "step_rewards", probe.steps, compiled)
    if not np.isfinite(out).all():
        raise BrokenError("rewards", f"the rewards on the way are {out.tolist()}; they must be finite", "step_rewards")
    looks.same("step_rewards", compiled.tolist(), out.tolist())
    return out


def look_at_together(looks: Looks, position: Position) -> tuple[list[int], ...]:
    """Where all choose at once: each player's actions."""
    lists = []
    for player in range(looks.game.facts.players):
        out, compiled = (
            np.zeros(looks.game.facts.num_actions, np.int32),
            np.zeros(looks.game.facts.num_actions, np.int32),
        )
        if not looks.compiled:
            out[:] = NONE  # an entry that is counted and never written is then out of range
        count = looks.asked_whole(position, "legal_actions_of", player, out)
        looks.asked_compiled(position, "legal_actions_of", probe.actions_of, looks.findings, player, compiled)
        legal = looks.listed(f"legal_actions_of({player})", out, count, "actions")
        looks.same("legal_actions_of", compiled[: int(looks.findings[0]["count"])].tolist(), legal)
        lists.append(legal)
    return tuple(lists)


def look_at_numbers(looks: Looks, position: Position, rng: Rng) -> tuple[float, ...]:
    """An action of real numbers, drawn by the game."""
    size, own = looks.game.facts.action_size or 1, Rng.from_word(rng.word)
    values, compiled = np.zeros(size), np.zeros(size)
    looks.asked(position, "sample_action", own, values)
    looks.findings["rng"] = rng.word
    looks.asked_compiled(position, "sample_action", probe.sample, looks.findings, compiled)
    if not np.isfinite(values).all():
        raise BrokenError(
            "vectors", f"sample_action gave {values.tolist()}; the numbers must be finite", "sample_action"
        )
    looks.same("sample_action", (compiled.tolist(), int(looks.findings[0]["rng"])), (values.tolist(), own.word))
    rng.bits()
    return tuple(values.tolist())


def look_at_observations(looks: Looks, position: Position) -> None:
    """What a network is shown of a position, for each player: finite numbers in the declared shape."""
    shape = looks.game.facts.observation_shape
    if shape is None:
        raise BrokenError("works", "the game has observe, but no observation_shape=... in the decorator", "observe")
    for player in range(looks.game.facts.players):
        out = np.zeros(math.prod(shape), np.float32)
        looks.asked(position, "observe", player, out)
        if not np.isfinite(out).all():
            raise BrokenError("works", f"observe wrote a number that is not finite for player {player}", "observe")


def look_at_recall(looks: Looks, position: Position, mover: int, lists: tuple[list[int], ...]) -> None:
    """Whoever has to choose sees what they have seen before with the same key: the same actions, after the same past."""
    deciding = range(looks.game.facts.players) if mover == SIMULTANEOUS else [mover] if mover >= 0 else []
    for seat, player in enumerate(deciding):
        looks.asked_compiled(position, "information", probe.information, looks.findings, player)
        key = int(looks.findings[0]["key"])
        about = (looks.pasts[player], tuple(sorted(lists[seat])) if lists else ())
        if len(looks.known) < _MOST_KNOWN and looks.known.setdefault((player, key), about) != about:
            what = "other actions" if looks.known[player, key][0] == looks.pasts[player] else "another past"
            raise BrokenError(
                "recall",
                f"player {player} has been told the same information before ({key}), with {what}",
                "information",
            )


def remember(looks: Looks, position: Position, action: Any) -> None:
    """Whoever chose will have to recall what they saw, and what they did."""
    mover = position.player
    deciding = range(looks.game.facts.players) if mover == SIMULTANEOUS else [mover] if mover >= 0 else []
    for seat, player in enumerate(deciding):
        done = action[seat] if mover == SIMULTANEOUS else action
        looks.pasts[player] = hash((looks.pasts[player], position.information(player), done))


def look_at_secrets(looks: Looks, position: Position, rng: Rng, *, terminal: bool, mover: int) -> None:
    """What a player cannot know is drawn anew, alike in both modes, and all that they know stays."""
    for player in range(looks.game.facts.players):
        known = looks.asked_whole(position, "information", player) & (2**64 - 1)
        looks.asked_compiled(position, "information", probe.information, looks.findings, player)
        looks.same("information", int(looks.findings[0]["key"]), known)
        other = _redrawn(looks, position, rng, player)
        told = _changed(looks, position, other, player, terminal=terminal, mover=mover)
        if told:
            raise BrokenError(
                "secrets", f"determinize for player {player} changed {told}; it drew\n{other.state!r}", "determinize"
            )


def _redrawn(looks: Looks, position: Position, rng: Rng, player: int) -> Position:
    state, own = position.state, Rng.from_word(rng.word)
    guard("determinize", lambda: state.determinize(player, own))
    other = Position(looks.game, state._states)
    if looks.compiled:
        looks.states[:] = position.record
        looks.findings["rng"] = rng.word
        guard(
            "determinize", lambda: looks.engine.entry(probe.redraw)(looks.states, looks.findings, player), compiled=True
        )
        looks.same_state("determinize", other)
        looks.same("determinize", int(looks.findings[0]["rng"]), own.word)
    rng.bits()
    return other


def _changed(looks: Looks, position: Position, other: Position, player: int, *, terminal: bool, mover: int) -> str:
    """What of a player's knowledge is not what it was; nothing where all is well."""
    if other.is_terminal != terminal:
        return f"whether the game is over from {terminal} to {not terminal}"
    if guard("information", lambda: other.information(player)) != position.information(player):
        return "that player's information"
    if terminal:
        return ""
    if other.player != mover:
        return f"the player to move from {mover} to {other.player}"
    if mover in (player, SIMULTANEOUS) and looks.game.facts.action_size is None:
        before, after = (
            sorted(position.legal_actions(player)),
            sorted(guard("legal_actions", lambda: other.legal_actions(player))),
        )
        return f"that player's legal actions from {before} to {after}" if before != after else ""
    return ""
