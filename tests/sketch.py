"""A game that is drawn: spots and the ways between them are data, so one compiled game serves thousands of little ones with exact answers."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

import treetop as tt
from treetop.tree.layout import BOUNDED, PATH_DEPENDENT

SPOTS, WAYS, LONGEST = 48, 4, 400


@tt.game(players=2, num_actions=WAYS, max_length=LONGEST)
class Sketch:
    """Walk along the ways of a drawing; a spot without a way onward is the end, worth what is written there to player 0.

    Play that goes round ends after LONGEST moves, which the key leaves out.
    """

    spot = tt.field("i2")
    ways = tt.field("i1", (SPOTS, WAYS))
    mover = tt.field("i1", SPOTS)
    worth = tt.field("f8", SPOTS)
    names = tt.field("u8", SPOTS)
    moves = tt.field("i2")
    endless = tt.field("f8")

    def reset(self):
        self.spot = 0
        self.ways[:, :] = -1

    def current_player(self):
        return self.mover[self.spot]

    def legal_actions(self, out):
        count = 0
        for action in range(WAYS):
            if self.ways[self.spot, action] >= 0:
                out[count] = action
                count += 1
        return count

    def apply(self, action):
        self.spot = self.ways[self.spot, action]
        self.moves += 1

    def leads_on(self):
        onward = 0
        for action in range(WAYS):
            onward += self.ways[self.spot, action] >= 0
        return onward > 0

    def is_terminal(self):
        return self.moves == LONGEST or not self.leads_on()

    def rewards(self, out):
        out[0] = self.endless if self.leads_on() else self.worth[self.spot]
        out[1] = -out[0]

    def key(self):
        return self.names[self.spot]

    def render(self):
        return f"at spot {self.spot}"


@dataclass
class Drawing:
    """Where each spot leads, who moves there, and what the ends are worth to player 0. Spots may share a name on purpose."""

    ways: dict[int, list[int | None]]
    worth: dict[int, float] = field(default_factory=dict)
    movers: dict[int, int] = field(default_factory=dict)
    names: dict[int, int] = field(default_factory=dict)
    endless: float = 0.0

    def position(self) -> tt.Position:
        state = Sketch()
        state.endless = self.endless
        for spot in range(SPOTS):
            state.names[spot] = np.uint64(self.names.get(spot, spot + 1))
            state.mover[spot] = self.movers.get(spot, 0)
            state.worth[spot] = self.worth.get(spot, 0.0)
            for action, target in enumerate(self.ways.get(spot, [])):
                state.ways[spot, action] = -1 if target is None else target
        return tt.Position(Sketch, state._states)

    def onward(self, spot: int) -> list[int]:
        return [target for target in self.ways.get(spot, []) if target is not None]

    @functools.cached_property
    def exact(self) -> dict[int, tuple[float, int]]:
        """For each spot of a drawing without circles what it is worth to player 0, and the moves to the end.

        Who is better off than even hurries, who is worse off takes long.
        """
        known: dict[int, tuple[float, int]] = {}

        def look(spot: int) -> tuple[float, int]:
            if spot not in known:
                below = [look(target) for target in self.onward(spot)]
                if not below:
                    known[spot] = (self.worth.get(spot, 0.0), 0)
                else:
                    sign = 1 if self.movers.get(spot, 0) == 0 else -1
                    best = max(sign * value for value, _ in below)
                    lengths = [length for value, length in below if sign * value == best]
                    known[spot] = (sign * best, 1 + (max(lengths) if best < 0 else min(lengths)))
            return known[spot]

        look(0)
        return known

    @functools.cached_property
    def with_circles(self) -> dict[int, float]:
        """What each spot is worth to player 0 where play may go round for ever, which is worth `endless`."""
        ends = {spot: self.worth.get(spot, 0.0) for spot in range(SPOTS) if not self.onward(spot)}
        values = dict.fromkeys(range(SPOTS), self.endless)
        for worth in sorted(ends.values()):
            if worth > self.endless:
                values |= dict.fromkeys(self._forced(0, {spot for spot in ends if ends[spot] >= worth}), worth)
        for worth in sorted(ends.values(), reverse=True):
            if worth < self.endless:
                values |= dict.fromkeys(self._forced(1, {spot for spot in ends if ends[spot] <= worth}), worth)
        return values

    def _forced(self, player: int, goal: set[int]) -> set[int]:
        """The spots from which a player can make sure to reach a goal."""
        reached = set(goal)
        while True:
            more = {
                spot
                for spot in self.ways
                if spot not in reached
                and self.onward(spot)
                and (any if self.movers.get(spot, 0) == player else all)(
                    target in reached for target in self.onward(spot)
                )
            }
            if not more:
                return reached
            reached |= more


def random_drawing(
    seed: int, *, values: tuple[float, ...] = (-1.0, 0.0, 1.0), spots: int = 30, circles: bool = False
) -> Drawing:
    """A drawing with many ways to the same spot; any player may move anywhere, twice in a row too."""
    rng = random.Random(seed)
    drawing = Drawing({})
    for spot in range(spots):
        drawing.movers[spot], drawing.worth[spot] = rng.randrange(2), rng.choice(values)
        later = (
            [target for target in range(spots) if target != spot]
            if circles
            else list(range(spot + 1, min(spots, spot + 8)))
        )
        count = 0 if spot >= spots - 5 else rng.randint(2 if circles or spot == 0 else int(spot < 6), WAYS)
        if count:
            targets: list[int | None] = [rng.choice(later) for _ in range(count)]
            drawing.ways[spot] = rng.sample(targets + [None] * (WAYS - count), WAYS)
    return drawing


def random_maze(seed: int) -> Drawing:
    """A drawing full of circles and of several ways to the same spot, with ends of any worth; endless play may favour one player."""
    rng = random.Random(seed)
    spots = rng.choice((5, 6, 8, 10, 12, 16, 24))
    ends = rng.randint(2, max(2, spots // 3))
    drawing = Drawing({}, endless=rng.choice((0.0, 0.0, 0.4, -0.7)))
    for spot in range(spots):
        drawing.movers[spot], drawing.worth[spot] = rng.randrange(2), round(rng.uniform(-1, 1), 3)
        if spot < spots - ends:
            count = rng.randint(2 if spot == 0 else 1, 3 if rng.random() < 0.7 else WAYS)
            targets = [rng.randrange(int(rng.random() < 0.7), spots) for _ in range(count)]
            drawing.ways[spot] = [spot + 1 if target == spot else target for target in targets]
    return drawing


def slots(search: tt.Search) -> Iterator[tuple[int, tt.Position]]:
    """Every slot of a search's tree or graph, each once, with a position that it stands for."""
    links = search.tree.columns.links
    passed: set[int] = set()
    waiting = [(0, search.position)]
    while waiting:
        slot, position = waiting.pop()
        yield slot, position
        first, count = int(links["first_child"][slot]), int(links["num_children"][slot])
        if count and first not in passed:
            passed.add(first)
            waiting += [(child, position.apply(int(links["action"][child]))) for child in range(first, first + count)]


def goes_round(search: tt.Search) -> bool:
    """Whether a search of a graph has met a repetition."""
    return bool((search.tree.columns.links["flags"][: search.tree.size] & PATH_DEPENDENT).any())


def spot_of(position: tt.Position) -> int:
    return int(position.record["spot"][0])


def find_mistake(drawing: Drawing, search: tt.Search, simulations: int, *, near: float = 0.05) -> str | None:
    """Search a drawing with circles and return the first wrong claim: a move that loses value, a value or a bound that is not true."""
    exact, player = drawing.with_circles, search.position.player
    result = search.run(tt.Limit(simulations=simulations))
    search.tree.check((-1, 1))
    sign = 1 if player == 0 else -1
    best, chosen = sign * exact[0], sign * exact[spot_of(search.position.apply(result.action))]
    if best - chosen > near or abs(result.value - best) > 2 * near:
        return f"plays {result.action}, worth {chosen:.3f}, with value {result.value:.3f}; exact is {best:.3f}"
    if result.solved and (result.proof.value, chosen) != (best, best):
        return f"proves {result.proof.value} with a move worth {chosen}; exact is {best}"
    columns = search.tree.columns
    if len(columns.bounds):
        for slot, position in slots(search):
            low, high = columns.bounds[slot, 0], columns.bounds[slot, 2]
            if columns.links["flags"][slot] & BOUNDED and not low <= exact[spot_of(position)] <= high:
                return f"bounds spot {spot_of(position)} by {low} and {high}; exact is {exact[spot_of(position)]}"
    return None
