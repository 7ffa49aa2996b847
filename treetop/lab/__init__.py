"""Studies over the other packages: experiments with proof search, how they are run, kept, measured and drawn."""
