"""Monte Carlo tree search in plain Python: what the compiled search must equal."""
