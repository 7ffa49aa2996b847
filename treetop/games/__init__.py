"""The bundled games, one file each. `treetop.load_game` loads them by name."""
