"""The solver: bounds on the return of each player, proven from the ends of the game upwards.

A node without bounds has those of the game's utility range. A child is closed, so that selection skips it, when it is
proven or cannot be better for the mover than a return that is already proven. A node is proven when all its children
are closed.
"""

from __future__ import annotations

from treetop.game.facts import Facts
from treetop.reference.arithmetic import added
from treetop.reference.node import Node


def bounds(facts: Facts, node: Node, player: int) -> tuple[float, float]:
    """Return the least and the greatest return of a player."""
    return facts.rewards if node.bounds is None else node.bounds[player]


def value(node: Node) -> list[float]:
    """Return the values of a proven node: (lo + hi) / 2.

    The bounds differ only where a tie of another player leaves them open.
    """
    assert node.bounds is not None
    return [0.5 * (low + high) for low, high in node.bounds]


def clip(node: Node, rewards: list[float]) -> list[float]:
    """Return the returns of a simulation within the proven bounds: min(max(r, lo), hi)."""
    if node.bounds is None:
        return rewards
    return [min(max(reward, low), high) for reward, (low, high) in zip(rewards, node.bounds, strict=True)]


def update(facts: Facts, node: Node) -> tuple[bool, bool]:
    """Update the bounds of a node; return whether it changed, and whether it is now proven.

    The mover p has lo = max lo(child), hi = max hi(child). Children with hi_p < lo are closed; those with hi_p = lo as
    well, where the return of one player determines that of the other. In that case the other player has the negated
    bounds; else it has the lowest lo and the highest hi of all children that p might still prefer. The distance is one
    more than that of the nearest best child; of a lost node, than that of the farthest child, or than the longest game
    where a closed child is not proven.
    """
    if node.is_chance:
        return _expect(facts, node)
    mover, children = node.children[0].chooser, node.children
    determined = facts.players == 1 or bool(facts.zero_sum)
    lows, highs = ([bounds(facts, child, mover)[end] for child in children] for end in (0, 1))
    sure, possible = max(lows), max(highs)
    for child, best in zip(children, highs, strict=True):
        child.is_closed = child.is_closed or best < sure or (determined and best == sure)
    found = []
    for player in range(facts.players):
        if player == mover:
            found.append((sure, possible))
        elif determined:
            found.append((-possible, -sure))
        else:
            left = [bounds(facts, child, player) for child, best in zip(children, highs, strict=True) if best >= sure]
            found.append((min(low for low, _ in left), max(high for _, high in left)))
    changed, proven = _set_bounds(facts, node, found, all(child.is_closed for child in children))
    if proven:
        distances = [child.distance for child in children if child.is_proven and bounds(facts, child, mover)[0] == sure]
        unknown = [facts.max_length for child in children if not child.is_proven]
        node.distance = 1 + (max(distances + unknown) if sure < facts.middle else min(distances))
    return changed, proven


def _expect(facts: Facts, node: Node) -> tuple[bool, bool]:
    """Update the bounds of a chance node: sum of P * lo / sum of P, and the same for hi.

    It is proven when all outcomes are proven.
    """
    children, (lowest, highest) = node.children, facts.rewards
    mass = added(child.prior for child in children)
    found = []
    for player in range(facts.players):
        low, high = (
            added(child.prior * bounds(facts, child, player)[end] for child in children) / mass for end in (0, 1)
        )
        found.append((max(low, lowest), min(high, highest)))
    changed, proven = _set_bounds(facts, node, found, all(child.is_proven for child in children))
    if proven:
        node.distance = 1 + max(child.distance for child in children)
    return changed, proven


def _set_bounds(facts: Facts, node: Node, found: list[tuple[float, float]], is_proven: bool) -> tuple[bool, bool]:
    """Set bounds that are narrower or prove a node; return whether it changed, and whether it is now proven."""
    old = [bounds(facts, node, player) for player in range(facts.players)]
    narrower = any(low > before or high < after for (low, high), (before, after) in zip(found, old, strict=True))
    if narrower or is_proven:
        node.bounds = found
    now_proven = is_proven and not node.is_proven
    if now_proven:
        node.is_proven = node.is_closed = True
    return narrower or now_proven, now_proven


def prove_terminal(node: Node, rewards: list[float]) -> None:
    """Set the bounds of a node where the game is over to its rewards."""
    node.bounds = [(reward, reward) for reward in rewards]
    node.is_proven = node.is_closed = True
    node.distance = 0


def prove(facts: Facts, path: list[Node], rewards: list[float], is_terminal: bool) -> None:
    """Update the bounds along a path whose end is proven, upwards, while nodes change.

    The sums of a node that becomes proven are set to n times its exact value. The sums above it do not change.
    """
    if is_terminal:
        prove_terminal(path[-1], rewards)
    for node in reversed(path[:-1]):
        changed, proven = update(facts, node)
        if proven:
            node.sums = [share * node.visits for share in value(node)]
            node.squares = node.value_sum * node.value_sum / max(node.visits, 1)
        if not changed:
            return
