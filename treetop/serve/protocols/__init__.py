"""Treetop as an engine of other programs: GTP for boards; UCI, USI and UCCI for chess and its relatives."""
