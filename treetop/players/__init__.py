"""Players: searches, baselines, and engines in their own processes. Public names are imported on first use.

>>> import treetop as tt
>>> from treetop.players import CecpPlayer, GtpPlayer, UciPlayer, make_player
>>> make_player("uct(simulations=100)", tt.load_game("nim")).name
'uct(simulations=100)'

Engines are started before their first game; a program that is not there is an error at once:

>>> for engine in (UciPlayer, GtpPlayer, CecpPlayer):
...     try:
...         engine(tt.load_game("tic_tac_toe"), "no-such-engine")
...     except tt.TreetopError as error:
...         print("no-such-engine" in str(error))
True
True
True
"""

from typing import TYPE_CHECKING

from treetop.lazy import exports

if TYPE_CHECKING:
    from treetop.players.base import BasePlayer as BasePlayer
    from treetop.players.baselines import AlphaBetaPlayer as AlphaBetaPlayer
    from treetop.players.baselines import GreedyPlayer as GreedyPlayer
    from treetop.players.baselines import RandomPlayer as RandomPlayer
    from treetop.players.bundled import recommended as recommended
    from treetop.players.bundled import recommended_search as recommended_search
    from treetop.players.engine import UciPlayer as UciPlayer
    from treetop.players.engine import UsiPlayer as UsiPlayer
    from treetop.players.following import CecpPlayer as CecpPlayer
    from treetop.players.following import GtpPlayer as GtpPlayer
    from treetop.players.own import player as player
    from treetop.players.protocol import Player as Player
    from treetop.players.search import SearchPlayer as SearchPlayer
    from treetop.players.spec import make_player as make_player
    from treetop.players.spec import player_names as player_names

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "base": "BasePlayer",
        "baselines": "AlphaBetaPlayer GreedyPlayer RandomPlayer",
        "bundled": "recommended recommended_search",
        "engine": "UciPlayer UsiPlayer",
        "following": "CecpPlayer GtpPlayer",
        "own": "player",
        "protocol": "Player",
        "search": "SearchPlayer",
        "spec": "make_player player_names",
    },
)
