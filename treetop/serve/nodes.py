"""The nodes of all trees of a server: a search gets a share before it grows, and all shares together have a bound."""

from __future__ import annotations

import threading
from collections.abc import Callable

from treetop.search.search import Search
from treetop.serve.limits import Limits, TooManyError

_AHEAD = 250_000  # nodes that a search may add until its next slice, which is more than a slice adds
_LEAST = 20_000  # nodes without which no search begins


class Nodes:
    """Shares of the nodes that all trees may have together.

    `allow` is called before each slice of a search. Where nodes are short, `make_way` is called, which releases those
    of another search if it can; a search that gets no more nodes folds its least visited subtrees and goes on.

    >>> import treetop as tt
    >>> nodes = Nodes(Limits(total_nodes=1_000_000, nodes=400_000))
    >>> search = tt.Search("tic_tac_toe")
    >>> nodes.allow(search)
    >>> nodes.used
    250002
    >>> nodes.release(search)
    >>> nodes.used
    0
    """

    def __init__(self, limits: Limits, make_way: Callable[[], bool] = lambda: False) -> None:
        self._limits, self._make_way = limits, make_way
        self._least = min(_LEAST, limits.nodes, max(1, limits.total_nodes // (4 * limits.sessions)))
        self._reserve = self._least * limits.sessions  # with which each session can begin a search
        self._shares: dict[Search, int] = {}
        self._used = 0
        self._lock = threading.Lock()

    @property
    def used(self) -> int:
        """The sum of all shares."""
        return self._used

    def allow(self, search: Search) -> None:
        """Let the trees of a search grow; raise TooManyError for a new search if there are no nodes left."""
        wanted = min(self._limits.nodes, 2 * search.nodes + _AHEAD)
        share = self._take(search, wanted)
        while share < wanted and self._make_way():
            share = self._take(search, wanted)
        if share == 0:
            raise TooManyError(
                f"the trees of this server have all of its {self._limits.total_nodes:,} nodes: stop a search, close a "
                "game, or start the server with more --nodes"
            )
        search.allow_nodes(share)

    def _take(self, search: Search, wanted: int) -> int:
        with self._lock:
            held = self._shares.get(search, 0)
            free = self._limits.total_nodes - self._used
            more = max(0, min(wanted - held, free - self._reserve))
            if held + more < self._least:
                more = self._least - held if free >= self._least - held else 0
            if more:
                self._shares[search] = held + more
                self._used += more
            return held + more

    def release(self, search: Search | None) -> None:
        """Take back the share of a search that is not used any more."""
        if search is not None:
            with self._lock:
                self._used -= self._shares.pop(search, 0)
