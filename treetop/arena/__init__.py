"""Played games as measurements: matches, tournaments, Elo with intervals, sequential tests."""
