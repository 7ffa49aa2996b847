"""Python problems: states of any type, stepped and evaluated by the user's code."""
