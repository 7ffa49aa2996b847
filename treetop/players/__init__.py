"""Players: searches, baselines, and engines in their own processes."""
