"""Monte Carlo tree search in plain Python: the specification of the compiled search."""
