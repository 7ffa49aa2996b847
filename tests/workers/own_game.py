"""The source of a user's module: a game and a player."""

from __future__ import annotations

SOURCE = '''
import treetop as tt


@tt.game(players=2, num_actions=3, max_length=21)
class Stones:
    """Take one to three stones; whoever takes the last one wins."""

    stones = tt.field("i1")
    player = tt.field("i1")

    def reset(self):
        self.stones = 9
        self.player = 0

    def legal_actions(self, out):
        count = min(3, self.stones)
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        self.stones -= action + 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.stones == 0

    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 1.0


class Lost:
    """A player that forfeits, and says where its source is."""

    name = "lost"

    def begin(self, start, seed):
        pass

    def choose(self, position):
        raise tt.errors.PlayerError(__file__)

    def observe(self, action):
        pass

    def close(self):
        pass


@tt.player
def lost(game):
    return Lost()
'''
