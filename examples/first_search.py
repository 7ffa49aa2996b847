"""Search a position and print the result, in five lines."""

import treetop as tt

position = tt.position("connect_four", moves="4 4 4 4")
result = tt.search(position, simulations=50_000, seed=1)
print(result)
print("\nplay", result.move, "- worth", round(result.value, 3), "to player", result.player)
