"""Studies that use the other packages: experiments with proof search, how they are run, saved, measured and plotted."""
