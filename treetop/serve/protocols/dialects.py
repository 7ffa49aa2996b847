"""The words in which USI for shogi and UCCI for xiangqi differ from UCI: options, moves, scores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from treetop.players.uci import UciOption


@dataclass(frozen=True)
class Dialect:
    """The words of a protocol. `names` has the options that it calls otherwise.

    >>> DIALECTS["ucci"].theirs("h3e3"), DIALECTS["usi"].mate(-4)
    ('h2e2', 'mate -4')
    """

    name: str
    hello: str
    ready: str
    set_up: str
    """The word before a position as text."""
    first: str
    """The letter of the first player's clock."""
    no_move: str
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """The word before a text for people."""
        return "message" if self.name == "ucci" else "string"

    @property
    def in_seconds(self) -> bool:
        """Whether clocks are in seconds until an option says otherwise."""
        return self.name == "ucci"

    def own(self, move: str) -> str:
        """Return a move of the protocol as the game writes it."""
        return _shifted(move, 1) if self.name == "ucci" else move

    def theirs(self, move: str) -> str:
        """Return a move of the game as the protocol writes it."""
        return _shifted(move, -1) if self.name == "ucci" else move

    def option(self, option: UciOption, default: object) -> str:
        """Return the line that offers an option."""
        name = self.names.get(option.name, option.name)
        text = f"option {'' if self.name == 'ucci' else 'name '}{name} type {option.kind}"
        if default is not None:
            text += f" default {str(default).lower() if isinstance(default, bool) else default}"
        if option.low is not None:
            text += f" min {option.low} max {option.high}"
        return text + "".join(f" var {choice}" for choice in option.choices)

    def setting(self, text: str) -> tuple[str, str] | None:
        """Return the name and the value after `setoption`; None where there is no name."""
        short = r"(?:name )?(\S+)(?: value(?= |$))?(?: (.*))?"
        found = re.fullmatch(short if self.name == "ucci" else r"(?:name )?(.+?)(?: value(?: (.*))?)?", text)
        return None if found is None else (found[1], found[2] or "")

    def centipawns(self, value: int) -> str:
        """Return a score that is not proven."""
        return str(value) if self.name == "ucci" else f"cp {value}"

    def mate(self, plies: int) -> str:
        """Return the score of a proof: a win in so many plies, or, below 0, a loss."""
        if self.name == "ucci":
            return str(_MATE - plies if plies > 0 else -_MATE - plies)
        if self.name == "usi":
            return f"mate {plies}"
        return f"mate {(plies + 1) // 2 if plies > 0 else -max(1, -plies // 2)}"


_MATE = 30_000  # centipawns


def _shifted(move: str, by: int) -> str:
    """Return a move with other numbers of ranks: UCCI counts them from 0."""
    return re.sub(r"[0-9]{1,3}", lambda found: str(int(found[0]) + by), move)


DIALECTS = {
    "uci": Dialect("uci", "uci", "uciok", "fen", "w", "bestmove (none)"),
    "usi": Dialect(
        "usi", "usi", "usiok", "sfen", "b", "bestmove resign",
        {"Hash": "USI_Hash", "Ponder": "USI_Ponder", "Move Overhead": "Move_Overhead"},
    ),
    "ucci": Dialect(
        "ucci", "ucci", "ucciok", "fen", "w", "nobestmove",
        {
            "Threads": "threads", "Hash": "hashsize", "MultiPV": "multipv", "Ponder": "ponder",
            "Move Overhead": "overhead",
        },
    ),
}  # fmt: skip
