"""Tree search for theorems: goals, tactics and proofs that a checker outside the search accepts."""
