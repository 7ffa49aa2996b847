"""The tree: its arrays and their storage, a read-only view for people and tests, and files."""
