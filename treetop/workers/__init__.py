"""Run independent units of work in processes or on a Ray cluster, with deadlines, retries and a clean end."""
