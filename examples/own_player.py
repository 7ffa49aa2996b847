"""Write your own player: a function under @treetop.player, whose spec in matches is `own_player.py:corner`."""

import treetop as tt
from treetop.arena.matches import match
from treetop.players.base import BasePlayer


class Corner(BasePlayer):
    """A player that takes a corner while one is free."""

    corners = (0, 2, 6, 8)

    def choose(self, position):
        """Return the first free corner, else the first legal action."""
        legal = position.legal_actions()
        return next((action for action in self.corners if action in legal), legal[0])


@tt.player
def corner(game, name="corner"):
    """Return the player for a game; the options in the brackets of a spec are passed as arguments."""
    if game.family != "tic_tac_toe":
        raise tt.errors.ConfigError(f"corner plays tic_tac_toe, not {game.name}")
    return Corner(name)


if __name__ == "__main__":
    print(match(f"{__file__}:corner", "random", "tic_tac_toe", games=20, seed=1, workers=1))
