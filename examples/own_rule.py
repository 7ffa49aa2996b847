"""Write your own selection rule: a small Python function that is compiled into the search loop.

It searches at full speed and is explained like the built-in rules. The first run compiles it.
"""

import math

import treetop as tt


@tt.rule
def hopeful(value, visits, prior, variance, total, c):
    """UCB1 with a bonus for moves with a high variance, and a small term for the prior."""
    if visits == 0:
        return math.inf
    tries = math.log(total) / visits
    return value + (c + math.sqrt(variance)) * math.sqrt(tries) + prior / (1 + visits)


# X is to move, and c1 completes a diagonal.
position = tt.position("tic_tac_toe", moves="a3 a1 b2 b1")

print("which move wins? c1 does; how many of 300 simulations does each rule spend on it?\n")
for config in (tt.rules.uniform(), tt.uct(), tt.configure(hopeful, c=0.5), tt.rules.thompson()):
    result = tt.search(position, config, simulations=300, seed=1)
    bar = "#" * round(40 * result.visits[2] / 300)
    print(f"{config.rule!s:10} plays {result.move}  {bar} {result.visits[2]}")

# In plain Python it is an ordinary function, so it can be tested and plotted without a search.
print(f"\nhopeful(0.5, 10 visits of 100) = {hopeful(0.5, 10, 0.1, 0.25, 100, 0.5):.4f}\n")

search = tt.Search(position, tt.configure(hopeful, c=0.5), seed=1)
print(search.run(tt.Limit(simulations=20_000)).explain())
