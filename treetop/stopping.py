"""Stopping rules for `Search.run(stopping=...)`, which end a search before its limit or extend it, and clocks.

>>> import treetop as tt
>>> search = tt.Search("tic_tac_toe", seed=1)
>>> search.run(tt.Limit(simulations=100_000), stopping=[tt.stopping.UnassailableLeader()]).simulations < 100_000
True
"""

from treetop.search.clock import GameClock
from treetop.search.stopping import KLGain, MoreWhenCritical, Standing, Stopper, UnassailableLeader

__all__ = ["GameClock", "KLGain", "MoreWhenCritical", "Standing", "Stopper", "UnassailableLeader"]
