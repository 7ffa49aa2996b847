"""Acceptance: a new network replaces the last one if it wins a match against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from treetop.arena.matches import MatchProgress, match
from treetop.arena.sprt import Sprt, SprtVerdict
from treetop.evaluators.networks.model import Model

_ELO = 0.0, 35.0  # the two hypotheses of the test
_SIMULATIONS = 32


@dataclass(frozen=True)
class Accepted:
    """The result of a match between a new network and the last one: a line of `metrics.jsonl`.

    >>> Accepted(10, 60.0, True, 0.6, 80).accepted
    True
    """

    iteration: int
    seconds: float
    accepted: bool
    """Whether the new network is used from now on."""
    score: float
    """The share of the points that the new network has won."""
    games: int


def contest(
    candidate: Model, folder: Path, *, games: int, seed: int, interrupted: Callable[[], bool]
) -> tuple[bool, float, int] | None:
    """Let a network play against the one in a folder; return whether it is accepted, its score and the games.

    It is accepted by a sequential probability ratio test of 0 against 35 Elo, or if it leads after the last game.
    Return None after Ctrl-C, or as soon as `interrupted` returns true.
    """

    def look(_: MatchProgress) -> None:
        if interrupted():
            raise KeyboardInterrupt

    new = folder / "candidate"
    candidate.save(new)
    first, second = (f"net({str(path)!r}, simulations={_SIMULATIONS})" for path in (new, folder))
    found = match(
        first,
        second,
        candidate.game,
        games=games + games % 2,
        seed=seed,
        workers=1,
        sprt=Sprt(*_ELO),
        names=("new", "last"),
        progress=look,
    )
    if found.interrupted:
        return None
    decided = found.sprt is not None and found.sprt.decided
    won = found.sprt is not None and found.sprt.verdict is SprtVerdict.accept_h1
    return (won if decided else found.score > 0.5), found.score, found.games
