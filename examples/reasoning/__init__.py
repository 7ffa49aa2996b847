"""The parts of `examples/game_of_24.py`: the puzzle, who gives advice, a language model as such an adviser, and what is printed."""
