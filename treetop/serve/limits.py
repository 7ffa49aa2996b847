"""What clients may use of a server."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.errors import TreetopError


class TooManyError(TreetopError):
    """The server has as many sessions, games, searches or nodes as it may have."""


class TooSlowError(TreetopError):
    """A request has waited for its search as long as it may."""


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
    """Nodes of all trees, about 40 bytes each. Where they are short, trees of idle sessions are dropped, and trees that
    are searched fold their least visited subtrees."""
    seconds: float = 3600.0
    """Seconds of a search, and of a review."""
    jobs: int = 2
    """Records, comparisons and joint moves that a session may have under way."""
    wait: float = 30.0
    """Seconds that a request waits for its record, comparison or joint move."""
    games: int = 64
    """Different games, with their parameters: each is compiled."""
    moves: int = 10_000
