"""The tree: its arrays and their storage, a read-only handle of a node, and files."""
