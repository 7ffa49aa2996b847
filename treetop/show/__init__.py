"""Results of searches as plain values, pictures and pages: what files, notebooks and the server show."""
