"""Those who play: searches, baselines, engines in a process of their own."""
