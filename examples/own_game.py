"""Write your own game in twenty lines: define the rules, check them, search them."""

import treetop as tt


@tt.game(players=2, num_actions=10, max_length=100)
class Hundred:
    """The players take turns to add 1 to 10; whoever reaches 100 wins."""

    total = tt.field("i2")
    player = tt.field("i1")

    def reset(self):
        self.total = 0
        self.player = 0

    def legal_actions(self, out):
        count = min(10, 100 - self.total)
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        self.total += action + 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.total == 100

    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 1.0


print(tt.check(Hundred, games=200), end="\n\n")
print(
    tt.search(tt.position(Hundred, moves=[9] * 8), simulations=20_000, seed=1)
)  # from 80 the winning move is to add 9
