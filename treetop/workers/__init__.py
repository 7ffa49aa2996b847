"""Processes that work side by side, with deadlines and clean ends."""
