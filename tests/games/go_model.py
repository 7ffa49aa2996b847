"""A plain model of the rules of go, and games by random moves and playouts, for the tests."""

from __future__ import annotations

import itertools

import numpy as np

from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import copy_state, local_rng, state_at
from treetop.game.position import Position


class Model:
    """The rules as one would explain them: the board is a dict of points, the history a set of boards."""

    def __init__(self, size):
        self.size, self.stones, self.side = size, {}, 0
        self.history = {frozenset()}

    def neighbours(self, point):
        row, column = point
        around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        return [at for at in around if all(0 <= part < self.size for part in at)]

    def chain(self, stones, point):
        chain, liberties, open_ = {point}, set(), [point]
        while open_:
            for at in self.neighbours(open_.pop()):
                if at not in stones:
                    liberties.add(at)
                elif stones[at] == stones[point] and at not in chain:
                    chain.add(at)
                    open_.append(at)
        return chain, liberties

    def after(self, point):
        """The stones after a move, or None if it is illegal."""
        if point in self.stones:
            return None
        stones = {**self.stones, point: self.side}
        for at in self.neighbours(point):
            if stones.get(at) == 1 - self.side:
                chain, liberties = self.chain(stones, at)
                if not liberties:
                    stones = {place: side for place, side in stones.items() if place not in chain}
        if not self.chain(stones, point)[1] or frozenset(stones.items()) in self.history:
            return None
        return stones

    def play(self, point):
        if point is not None:
            self.stones = self.after(point)
            self.history.add(frozenset(self.stones.items()))
        self.side = 1 - self.side

    def lead(self):
        """The area of X minus that of O."""
        sides = list(self.stones.values())
        lead = sides.count(0) - sides.count(1)
        left = set(itertools.product(range(self.size), repeat=2)) - set(self.stones)
        while left:
            region, open_, borders = set(), [left.pop()], set()
            while open_:
                region.add(point := open_.pop())
                for at in self.neighbours(point):
                    if at in self.stones:
                        borders.add(self.stones[at])
                    elif at in left:
                        left.remove(at)
                        open_.append(at)
            lead += {(0,): 1, (1,): -1}.get(tuple(borders), 0) * len(region)
        return lead

    def rows(self):
        names, places = {None: "", 0: "X", 1: "O"}, range(self.size)
        return [[names[self.stones.get((row, column))] for column in places] for row in reversed(places)]

    @classmethod
    def of(cls, rows):
        """The model of a diagram, without a history."""
        model = cls(len(rows))
        for row, cells in enumerate(reversed(rows)):
            model.stones |= {(row, column): "XO".index(cell) for column, cell in enumerate(cells) if cell}
        return model


@compiled
def random_positions(game, states, seed, rolling, records):
    """Play a random game and keep all its states; return how many there are."""
    rng = local_rng(seed)
    state = state_at(game, states, 0)
    count = 0
    while True:
        copy_state(game, records, count, states, 0)
        count += 1
        if state.is_terminal():
            return count
        state.apply(state.rollout_action(rng) if rolling else state.random_action(rng))


def random_game(game, seed, *, rolling=False):
    """The states of a random game, played compiled."""
    records = np.zeros(game.facts.max_length + 1, game.dtype)
    states = Position(game).record.copy()
    count = game.engine(bounds_checked=True).entry(random_positions)(states, np.uint64(seed), rolling, records)
    return [game.view(records[number : number + 1].copy()) for number in range(count)]


def legal(state):
    out = np.zeros(type(state)._game.facts.num_actions, np.int32)
    return out[: state.legal_actions(out)].tolist()


def last_move(state):
    return int(state.moves[state.length - 1])
