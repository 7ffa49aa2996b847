"""A player of your own: a function under @treetop.player, named by a text in matches. Its spec here is `own_player.py:corner`."""

import treetop as tt
from treetop.arena.match import match
from treetop.players.base import BasePlayer


class Corner(BasePlayer):
    """Takes a corner while one is free."""

    corners = (0, 2, 6, 8)

    def choose(self, position):
        """Return the first free corner, else the first legal action."""
        legal = position.legal_actions()
        return next((action for action in self.corners if action in legal), legal[0])


@tt.player
def corner(game, name="corner"):
    """Make the player for a game; what a spec says between its brackets arrives as options."""
    if game.family != "tic_tac_toe":
        raise tt.ConfigError(f"corner plays tic_tac_toe, not {game.name}")
    return Corner(name)


if __name__ == "__main__":
    print(match(f"{__file__}:corner", "random", "tic_tac_toe", games=20, seed=1, workers=1))
