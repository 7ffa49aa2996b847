"""Principal variations: the most visited moves, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treetop.game.position import Position
from treetop.search.root import block
from treetop.tree.layout import DRAWN, FAILED, PROVEN
from treetop.tree.storage import Tree

if TYPE_CHECKING:
    from treetop.search.result import SearchResult


@dataclass(frozen=True)
class Line:
    """A move and the moves that the search expects after it.

    >>> import treetop as tt
    >>> line = tt.search("nim(stones=5)", simulations=500, seed=1).lines()[0]
    >>> line.move, line.moves
    ('1', ('1', '1', '3'))
    """

    move: str
    visits: int
    value: float | None
    """The mean return to the player to move at the root; None without visits."""
    moves: tuple[str, ...]
    """The variation, this move first."""

    @classmethod
    def of(cls, result: SearchResult, index: int) -> Line:
        """Return the line that starts with one of a result's moves."""
        actions = variation_of(result, int(result.numbers[index]))
        names = move_texts(result.position, actions)
        visits = int(result.counts[index])
        return cls(names[0], visits, float(result.clipped_means[index]) if visits else None, tuple(names))

    def __str__(self) -> str:
        value = "" if self.value is None else f" ({self.value:+.4f}, {self.visits:,} visits)"
        return f"{' '.join(self.moves)}{value}"


def move_texts(position: Position, actions: tuple[int, ...]) -> list[str]:
    """Return some actions, played one after the other, as text."""
    names = []
    for action in actions:
        names.append(position.move_text(action))
        position = position.apply(action)
    return names


def variation_of(result: SearchResult, number: int) -> tuple[int, ...]:
    """Return the principal variation of a result that starts with an action."""
    if result.merged is not None:
        return result.merged.variations.get(number, (number,))
    return principal_variation(result.tree, result.position, number)


def principal_variation(tree: Tree, position: Position, first_action: int) -> tuple[int, ...]:
    """Return the given action, and then the most visited ones; ties go to the higher value.

    Below a proven node it follows the proof. In a graph it ends where a position repeats, or the game is over for a
    reason that is not in the key.
    """
    columns = tree.columns
    visits, sums = columns.stats["visits"], columns.stats["value_sum"]
    links = columns.links
    first_child, num_children, actions, flags = (
        links[name] for name in ("first_child", "num_children", "action", "flags")
    )
    variation = [first_action]
    children = block(tree)
    listed = actions[children].tolist()
    node = children.start + listed.index(first_action) if first_action in listed else None
    passed: set[int] = {int(first_child[0])}
    here = position.apply(first_action) if tree.is_graph else None  # slow, so only where it is needed
    while node is not None and (count := int(num_children[node])) > 0 and not (here is not None and here.is_terminal):
        first = int(first_child[node])
        if first in passed:
            break
        passed.add(first)
        if flags[node] & DRAWN:  # a chance node
            break
        proven = None
        if len(columns.bounds) and flags[node] & PROVEN:
            proven = _proven_child(tree, node, (position.play(variation) if here is None else here).player)
        if proven is None:
            counts = visits[first : first + count].tolist()
            most = max(counts)
            best = [place for place, visited in enumerate(counts) if visited == most]
            node = first + (
                best[0] if len(best) == 1 else max(best, key=sums[first : first + count].tolist().__getitem__)
            )
            if not most or flags[node] & FAILED:
                break
        else:
            node = proven
        variation.append(int(actions[node]))
        here = None if here is None else here.apply(variation[-1])
    return tuple(variation)


def _proven_child(tree: Tree, node: int, player: int) -> int | None:
    """Return the child by which a proven node keeps its value for the player to move, at the distance of the proof."""
    columns = tree.columns
    first, value = int(columns.links["first_child"][node]), float(columns.bounds[node, player])
    last = first + int(columns.links["num_children"][node])
    flags, bounds = columns.links["flags"], columns.bounds
    children = [child for child in range(first, last) if flags[child] & PROVEN and bounds[child, player] == value]
    if not children:
        return None
    distances = {child: int(columns.distances[child]) for child in children}
    wanted = int(columns.distances[node]) - 1
    return min(children, key=lambda child: abs(distances[child] - wanted))
