"""Exact answers, found without sampling: what the searches and the rules are tested against."""
