"""The bundled games, one file each: rules and nothing else. `treetop.load_game` finds them by name."""
