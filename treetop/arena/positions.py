"""Test suites: how many positions of an EPD file a player solves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treetop import checks
from treetop.arena.seeds import PLAYER, derive
from treetop.compiler.preparing import thinking_clock
from treetop.errors import ConfigError, PlayerError
from treetop.game.definition import Game
from treetop.game.notation.epd import EpdPosition, read_epd
from treetop.game.notation.pgn_writing import notation_of
from treetop.players.protocol import Player, prepare
from treetop.players.spec import make_player
from treetop.stats import Interval, share_interval
from treetop.text import text_facts, text_table


@dataclass(frozen=True)
class SuiteRow:
    """What a player did in one position of a suite.

    >>> import treetop as tt
    >>> suite = tt.records.parse_epd("6k1/5ppp/8/8/8/8/8/R3K3 w Q - bm Ra8;")
    >>> tt.arena.solve_suite(suite, "greedy").rows[0].move
    'Ra8#'
    """

    name: str
    """The `id` of the position, or its line."""
    fen: str
    wanted: str
    """The best moves, and those to avoid."""
    move: str | None
    """The move of the player; None if it gave none."""
    solved: bool
    seconds: float
    reason: str | None = None
    """Why the player gave no move, or none that is legal."""


@dataclass(frozen=True)
class SuiteResult:
    """How many positions of a suite a player has solved.

    >>> import treetop as tt
    >>> suite = tt.records.parse_epd('6k1/5ppp/8/8/8/8/8/R3K3 w Q - bm Ra8; id "mate";')
    >>> print(tt.arena.solve_suite(suite, "greedy"))
    position  wanted  move  solved
    --------  ------  ----  ------
    mate        Ra8#  Ra8#     yes
    <BLANKLINE>
    player     greedy
    positions  1
    solved     1, 100% (20.7% to 100%)
    """

    player: str
    rows: tuple[SuiteRow, ...]

    @property
    def solved(self) -> int:
        """The number of positions that were solved."""
        return sum(row.solved for row in self.rows)

    @property
    def share(self) -> Interval:
        """The share of positions that were solved, with its 95% interval."""
        return share_interval(self.solved, len(self.rows))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of a table."""
        rows = [
            [row.name, row.wanted, row.move or row.reason or "none", "yes" if row.solved else "no"] for row in self.rows
        ]
        return ["position", "wanted", "move", "solved"], rows

    def facts(self) -> dict[str, str]:
        """Return the player and the sums as text."""
        return {
            "player": self.player,
            "positions": f"{len(self.rows):,}",
            "solved": f"{self.solved:,}, {_percent(self.share)}",
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "player": self.player,
            "positions": len(self.rows),
            "solved": self.solved,
            "share": self.share.to_dict(),
            "rows": [vars(row) for row in self.rows],
        }

    def __str__(self) -> str:
        return f"{text_table(*self.table())}\n\n{text_facts(self.facts())}"


def solve_suite(
    suite: str | Path | Iterable[EpdPosition],
    player: str,
    *,
    seed: int = 0,
    make_player: Callable[[str, Game], Player] = make_player,
    progress: Callable[[int, int], object] | None = None,
) -> SuiteResult:
    """Let a player move once in each position of an EPD file or of a list, and count the solved ones.

    A position is solved by a move of `bm`, or by one that is not in `am`. The positions have seeds of their own. A
    player that gives no legal move has not solved the position. `progress` is called with the number of positions done
    and the number solved.

    >>> import treetop as tt
    >>> suite = list(tt.records.parse_epd("6k1/5ppp/8/8/8/8/8/R3K3 w Q - am Ra8;"))
    >>> solve_suite(suite, "greedy").solved
    0
    """
    checks.whole("seed", seed)
    positions = list(read_epd(suite) if isinstance(suite, str | Path) else suite)
    if not positions:
        raise ConfigError("there is no position in the suite")
    for one in positions:
        if not one.best and not one.avoid:
            raise ConfigError(f"{one.source or one.name}: it has neither best moves (bm) nor moves to avoid (am)")
        if one.position.is_terminal:
            raise ConfigError(f"{one.source or one.name}: the game is over, so there is nothing to solve")
    made = make_player(player, positions[0].position.game)
    rows: list[SuiteRow] = []
    try:
        prepare(made, positions[0].position.game)
        for number, one in enumerate(positions):
            rows.append(_solve(made, one, derive(seed, PLAYER, number)))
            if progress is not None:
                progress(len(rows), sum(row.solved for row in rows))
    finally:
        made.close()
    return SuiteResult(player, tuple(rows))


def _solve(player: Player, one: EpdPosition, seed: int) -> SuiteRow:
    position, clock = one.position, thinking_clock()
    chosen: int | None = None
    reason, began = None, clock.now()
    try:
        if hasattr(player, "seat"):
            player.seat = position.player
        player.begin(position, seed)
        began = clock.now()
        action = player.choose(position)
        if isinstance(action, (int, np.integer)) and action in position.legal_actions():
            chosen = int(action)
        else:
            reason = f"played {action!r}, which is not legal"
    except PlayerError as error:
        reason = str(error)
    took = clock.now() - began
    wanted = [notation_of(position, best) for best in one.best]
    wanted += [f"not {notation_of(position, bad)}" for bad in one.avoid]
    return SuiteRow(
        one.name,
        position.state.setup_text(),
        ", ".join(wanted),
        None if chosen is None else notation_of(position, chosen),
        chosen is not None and one.solves(chosen),
        round(took, 4),
        reason,
    )


def _percent(share: Interval) -> str:
    return f"{100 * share.value:.3g}% ({100 * share.low:.3g}% to {100 * share.high:.3g}%)"
