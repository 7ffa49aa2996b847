"""Hex."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import Game, as_whole_number, compiled, family, field, game, lowest_bit, nth_bit, popcount

_NONE, _ONE, _HALF = np.uint64(0), np.uint64(1), np.uint64(32)


@family
def hex(size: int = 11) -> Game:
    """Connect."""
    as_whole_number("size", size, 2, 19)
    cells = size * size
    words = (cells + 63) // 64
    stride = size + 2
    padded = stride * stride
    todo_words = (padded + 63) // 64
    full = tuple(np.uint64(min((1 << 64) - 1, (1 << max(0, cells - 64 * word)) - 1)) for word in range(words))

    @game(players=2, num_actions=cells, max_length=cells)
    class Hex:
        """Connect."""

        links: Any = field("u1", padded)
        empty: Any = field("u8", words)
        todo: Any = field("u8", todo_words)
        left: int = field("i2")
        player: int = field("i1")
        won: bool = field("bool")

        def reset(self) -> None:
            self.left = cells
            self.player = 0
            self.won = False
            for word in range(words):
                count = min(64, cells - 64 * word)
                self.empty[word] = ~_NONE >> np.uint64(64 - count)
            for word in range(todo_words):
                self.todo[word] = _NONE
            for place in range(padded):
                self.links[place] = 0
            for i in range(stride):
                self.links[i] = 1
                self.links[padded - 1 - i] = 2
            for i in range(1, stride - 1):
                self.links[i * stride] = 16
                self.links[i * stride + stride - 1] = 32

        def legal_actions(self, out: Any) -> int:
            count = 0
            for word in range(words):
                rest = self.empty[word]
                while rest != _NONE:
                    out[count] = 64 * word + lowest_bit(rest)
                    rest &= rest - _ONE
                    count += 1
            return count

        def around(self, at: int) -> int:
            links = self.links
            return links[at - stride] | links[at - stride + 1] | links[at - 1] | links[at + 1] | links[at + stride - 1] | links[at + stride]

        def spread_to(self, at: int, flip: int) -> None:
            if self.links[at] & flip & 0xcc:
                self.links[at] ^= flip
                self.todo[at >> 6] |= _ONE << np.uint64(at & 63)

        def spread(self, at: int, flip: int) -> None:
            self.todo[at >> 6] |= _ONE << np.uint64(at & 63)
            more = True
            while more:
                more = False
                for word in range(todo_words):
                    while self.todo[word] != _NONE:
                        more = True
                        at = 64 * word + lowest_bit(self.todo[word])
                        self.todo[word] &= self.todo[word] - _ONE
                        if self.around(at) & flip & 0xcc:
                            self.spread_to(at - stride, flip)
                            self.spread_to(at - stride + 1, flip)
                            self.spread_to(at - 1, flip)
                            self.spread_to(at + 1, flip)
                            self.spread_to(at + stride - 1, flip)
                            self.spread_to(at + stride, flip)

        def apply(self, action: int) -> None:
            at = action + 2 * (action // size) + stride + 1
            shift = 4 * self.player
            around = (self.around(at) >> shift) & 15
            linked = around & 3
            self.links[at] = (linked | ((linked ^ 3) << 2)) << shift
            self.empty[action >> 6] ^= _ONE << np.uint64(action & 63)
            self.left -= 1
            self.player = 1 - self.player
            self.won = linked == 3
            if linked & (around >> 2) and linked != 3:
                self.spread(at, (linked | linked << 2) << shift)

        def is_terminal(self) -> bool:
            return self.won

        def rewards(self, out: Any) -> None:
            out[self.player] = -1.0
            out[1 - self.player] = 1.0

        def random_action(self, rng: Any) -> int:
            index = rng.below(self.left)
            before, word, total = 0, 0, 0
            for next_word in range(1, words):
                total += popcount(self.empty[next_word - 1])
                if index >= total:
                    before, word = total, next_word
            return 64 * word + nth_bit(self.empty[word], index - before)

    return Hex  # type: ignore[return-value]  # mypy does not see what a class decorator returns
