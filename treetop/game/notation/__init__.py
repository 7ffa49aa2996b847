"""Games and positions in files: PGN, SGF, EPD."""
