"""What clients may use of a server."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.errors import TreetopError


class TooManyError(TreetopError):
    """The server has as many sessions, games, searches or nodes as it may have."""


@dataclass(frozen=True)
class Limits:
    """What clients may use of a server.

    >>> Limits(sessions=10).moves
    10000
    """

    sessions: int = 100
    nodes: int = 4_000_000
    """Nodes of one tree; beyond them its least visited subtrees are folded."""
    total_nodes: int = 40_000_000
    """Nodes of all trees, about 40 bytes each; beyond them the trees of idle sessions are dropped."""
    seconds: float = 3600.0
    games: int = 64
    """Different games, with their parameters: each is compiled."""
    moves: int = 10_000
