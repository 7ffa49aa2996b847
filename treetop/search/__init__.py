"""The search as an object: limits, settings, evaluators, results, explanations, reports, files."""
