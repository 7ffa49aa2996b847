"""The root of a Python problem with the methods of a position, for results and explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treetop.errors import StaleNodeError

if TYPE_CHECKING:
    from treetop.search.problems.driver import ProblemDriver


class ProblemPosition:
    """The root. The number of a node stands for the action that leads to it."""

    def __init__(self, driver: ProblemDriver) -> None:
        self.game, self.state, self.player = driver.checked, driver.state, driver.player
        self.actions = tuple(driver.played)
        self.was_set_up = False
        self._driver, self._generation = driver, driver.tree.generation
        texts = [self.game.text(action) for action in driver.actions]
        if len(set(texts)) < len(texts):
            texts = [repr(action) for action in driver.actions]
        if len(set(texts)) < len(texts):
            texts = [f"{text} #{index}" for index, text in enumerate(texts)]
        numbers = range(driver.first_child, driver.first_child + len(texts))
        self._texts = dict(zip(numbers, texts, strict=True))
        self._actions = dict(zip(numbers, driver.actions, strict=True))

    def legal_actions(self, player: int | None = None) -> list[int]:  # noqa: ARG002
        """Return the numbers of the root's children."""
        return list(self._texts)

    def action(self, node: int) -> Any:
        """Return the action that leads to a node."""
        if node in self._actions:
            return self._actions[node]
        self._check()
        return self._driver.nodes.moves[node]

    def move_text(self, node: int) -> str:
        """Return the action that leads to a node, as text."""
        return self._texts.get(node) or self.game.text(self.action(node))

    def apply(self, node: int) -> ProblemPosition:  # noqa: ARG002
        """Return the same position, because the numbers of nodes are unique in the tree."""
        return self

    def play(self, variation: list[int]) -> _Reached:
        """Return the position at the end of a variation."""
        self._check()
        return _Reached(int(self._driver.nodes.movers[variation[-1]]))

    def moves(self) -> list[str]:
        """Return the actions that led to the root, as text."""
        return [self.game.text(action) for action in self.actions]

    def keep(self, nodes: tuple[int, ...]) -> None:
        """Keep the actions of some nodes, so that later changes of the tree do not matter."""
        for node in nodes:
            self._actions[node] = self.action(node)

    def _check(self) -> None:
        if self._driver.tree.generation != self._generation:
            raise StaleNodeError("the tree has changed since this result: call result() again")

    def shown_to(self, player: int) -> str:  # noqa: ARG002
        """Return the state as text, by the problem's own `render`."""
        return str(self)

    def __str__(self) -> str:
        return self.game.render(self.state)


@dataclass(frozen=True)
class _Reached:
    player: int
