"""Games with the same fields never get each other's code."""

from __future__ import annotations

import treetop as tt


def test_games_of_one_layout_keep_their_own_rules():
    for stones in (4, 5, 6, 7, 9):
        search = tt.Search(f"nim(stones={stones})", seed=1)
        result = search.run(tt.Limit(simulations=3000))
        wins = stones % 4 != 0
        assert (result.value > 0) == wins
        if wins:
            assert result.move == str(stones % 4)
