"""Run independent units of work in processes, with deadlines, retries and a clean end."""
