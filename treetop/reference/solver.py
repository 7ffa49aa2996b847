"""Proofs: what each player is sure to receive at least and at most, from the ends of the game upwards.

A node without bounds may be worth anything in the game's utility range. A child that is settled, or cannot be better for the mover than
what he is sure of, is closed: selection passes it by. A node is settled when all its children are closed.
"""

from __future__ import annotations

from treetop.game.facts import Facts
from treetop.reference.arithmetic import added
from treetop.reference.node import Node


def bounds(facts: Facts, node: Node, player: int) -> tuple[float, float]:
    """What a player receives at least and at most."""
    return facts.rewards if node.bounds is None else node.bounds[player]


def value(node: Node) -> list[float]:
    """What a settled node is worth: (lo + hi) / 2, which differ only where a tie of another player's leaves it open."""
    assert node.bounds is not None
    return [0.5 * (low + high) for low, high in node.bounds]


def clip(node: Node, rewards: list[float]) -> list[float]:
    """What a simulation found, corrected by what is proven: min(max(r, lo), hi)."""
    if node.bounds is None:
        return rewards
    return [min(max(reward, low), high) for reward, (low, high) in zip(rewards, node.bounds, strict=True)]


def update(facts: Facts, node: Node) -> tuple[bool, bool]:
    """Bounds of a node from those of its children; whether anything became narrower, and whether it was settled now.

    The mover p has lo = max lo(child), hi = max hi(child). Children with hi_p < lo are closed, and with hi_p = lo too where what one player
    receives decides for the other. Another player has the other's loss there; else the lowest lo and the highest hi of all children that p
    might still prefer. The distance is one more than the nearest best child's; for a loser than the farthest one's, or than the longest game
    where a child was closed that nobody has followed to its end.
    """
    if node.is_drawn:
        return _expect(facts, node)
    mover, children = node.children[0].chooser, node.children
    decided = facts.players == 1 or bool(facts.zero_sum)
    lows, highs = ([bounds(facts, child, mover)[end] for child in children] for end in (0, 1))
    sure, possible = max(lows), max(highs)
    for child, best in zip(children, highs, strict=True):
        child.is_closed = child.is_closed or best < sure or (decided and best == sure)
    found = []
    for player in range(facts.players):
        if player == mover:
            found.append((sure, possible))
        elif decided:
            found.append((-possible, -sure))
        else:
            left = [bounds(facts, child, player) for child, best in zip(children, highs, strict=True) if best >= sure]
            found.append((min(low for low, _ in left), max(high for _, high in left)))
    old = [bounds(facts, node, player) for player in range(facts.players)]
    narrower = any(low > before or high < after for (low, high), (before, after) in zip(found, old, strict=True))
    all_closed = all(child.is_closed for child in children)
    if narrower or all_closed:
        node.bounds = found
    if not all_closed or node.is_proven:
        return narrower, False
    node.is_proven = node.is_closed = True
    away = [child.distance for child in children if child.is_proven and bounds(facts, child, mover)[0] == sure]
    unknown = [facts.max_length for child in children if not child.is_proven]
    node.distance = 1 + (max(away + unknown) if sure < facts.middle else min(away))
    return True, True


def _expect(facts: Facts, node: Node) -> tuple[bool, bool]:
    """Bounds where chance decides: the sums of P * lo and P * hi over the outcomes, divided by that of P. Settled when all outcomes are."""
    children, (lowest, highest) = node.children, facts.rewards
    mass = added(child.prior for child in children)
    found = []
    for player in range(facts.players):
        low, high = (
            added(child.prior * bounds(facts, child, player)[end] for child in children) / mass for end in (0, 1)
        )
        found.append((max(low, lowest), min(high, highest)))
    old = [bounds(facts, node, player) for player in range(facts.players)]
    narrower = any(low > before or high < after for (low, high), (before, after) in zip(found, old, strict=True))
    settled = all(child.is_proven for child in children)
    if narrower or settled:
        node.bounds = found
    if not settled or node.is_proven:
        return narrower, False
    node.is_proven = node.is_closed = True
    node.distance = 1 + max(child.distance for child in children)
    return True, True


def finish(node: Node, rewards: list[float]) -> None:
    """Set the bounds of a node where the game is over to its rewards."""
    node.bounds = [(reward, reward) for reward in rewards]
    node.is_proven = node.is_closed = True
    node.distance = 0


def prove(facts: Facts, path: list[Node], rewards: list[float], is_terminal: bool) -> None:
    """The end of a path is settled: tell those above, as far as it narrows anything.

    A node that becomes settled had a mean of guesses; its sums become n times the exact value. The sums above keep what they had.
    """
    if is_terminal:
        finish(path[-1], rewards)
    for node in reversed(path[:-1]):
        narrower, settled = update(facts, node)
        if settled:
            node.sums = [share * node.visits for share in value(node)]
            node.squares = node.value_sum * node.value_sum / max(node.visits, 1)
        if not narrower:
            return
