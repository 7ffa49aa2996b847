"""Many states of a game as arrays: players, observations, legal actions, keys and symmetries, by compiled code.

>>> import numpy as np, treetop as tt
>>> game, moves = tt.load_game("connect_four"), ["", "4", "4 4 3"]
>>> records = np.concatenate([tt.position(game, moves=text).record for text in moves])
>>> tt.states.players(game, records).tolist()
[0, 1, 1]
>>> tt.states.observations(game, records).shape
(3, 3, 6, 7)
"""

from treetop.search.states import keys, legal_mask, observation_shape, observations, players, transformed

__all__ = ["keys", "legal_mask", "observation_shape", "observations", "players", "transformed"]
