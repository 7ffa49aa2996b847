"""The compiled verbs of a search, one a file. `loop.py` holds the entry points."""
