"""Python problems: states of any kind, stepped and evaluated by the caller's code."""
