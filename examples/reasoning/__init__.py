"""The parts of `examples/game_of_24.py`: the puzzle, the advisers, a language model as an adviser, and the output."""
