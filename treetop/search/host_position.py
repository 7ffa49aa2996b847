"""The root of a Python problem, as results and explanations see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treetop.errors import StaleNodeError
from treetop.search.host_machine import StandIn

if TYPE_CHECKING:
    from treetop.search.host import HostSearch


class HostPosition:
    """The root as results and explanations see it. A node's number stands for the action that leads to it."""

    def __init__(self, search: HostSearch) -> None:
        machine = search._machine
        self.game = StandIn(search.view)
        self.state = machine.states[0]
        self.player = search.player
        self.actions = tuple(search.played)
        self.was_set_up = False
        self._search, self._generation = search, machine.tree.generation
        names = [search.view.text(action) for action in search.actions]
        if len(set(names)) < len(names):
            names = [repr(action) for action in search.actions]
        if len(set(names)) < len(names):
            names = [f"{name} #{index}" for index, name in enumerate(names)]
        first = search._first_child()
        self._names = {first + index: name for index, name in enumerate(names)}
        self.moves_at = {first + index: action for index, action in enumerate(search.actions)}

    def legal_actions(self, player: int | None = None) -> list[int]:  # noqa: ARG002 - the shape of a position
        """The root's children."""
        return list(self._names)

    def move(self, node: int) -> Any:
        """The action that leads to a node."""
        if node in self.moves_at:
            return self.moves_at[node]
        self._check()
        return self._search._machine.moves[node]

    def move_text(self, node: int) -> str:
        """The same for people."""
        return self._names.get(node) or self._search.view.text(self.move(node))

    def apply(self, node: int) -> HostPosition:  # noqa: ARG002 - nodes are numbered through, so names are found from anywhere
        """The position after a move, for who names moves one after the other."""
        return self

    def play(self, variation: list[int]) -> _Reached:
        """The position at the end of a variation."""
        self._check()
        return _Reached(int(self._search._machine.side.movers[variation[-1]]))

    def moves(self) -> list[str]:
        """What had been played."""
        return [self._search.view.text(action) for action in self.actions]

    def remember(self, nodes: tuple[int, ...]) -> None:
        """Keep the names of some nodes, wherever the tree goes."""
        for node in nodes:
            self.moves_at[node] = self.move(node)

    def _check(self) -> None:
        if self._search.tree.generation != self._generation:
            raise StaleNodeError("the search has moved on: ask it for its result again")

    def shown_to(self, player: int) -> str:  # noqa: ARG002 - the shape of a position
        """The state as it prints: who sees what is the problem's own affair."""
        return str(self)

    def __str__(self) -> str:
        return self._search.view.render(self.state)


@dataclass(frozen=True)
class _Reached:
    player: int
