"""Exact answers, found without sampling: searches and rules are tested against them."""
