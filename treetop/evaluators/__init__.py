"""Evaluators that wrap other evaluators."""
