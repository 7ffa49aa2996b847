"""Explain decisions: of a search, and of statistics given by hand."""

import math

import treetop as tt

# A textbook's numbers: 100 visits so far, and three moves with (visits, mean value).
print(tt.explain(tt.uct(c=math.sqrt(2)), {"A": (50, 0.8), "B": (10, 0.6), "C": (40, 0.5)}), end="\n\n")

# The same moves with priors: PUCT trusts them.
print(tt.explain(tt.puct(c=1.0), {"A": (50, 0.8, 0.4), "B": (10, 0.6, 0.1), "C": (40, 0.5, 0.5)}), end="\n\n")

# A search whose final move is drawn by temperature instead of chosen by visits.
result = tt.search("tic_tac_toe", tt.uct(final="temperature", temperature=0.5), simulations=5_000, seed=3)
print(result.explain())
print(result.report())
