"""Policy and value networks: their shapes, their weights on disk, and evaluators that run them."""
