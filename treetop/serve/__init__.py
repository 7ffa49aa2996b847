"""Searches for other programs and for people with a browser: the analysis protocol, background searches, the server."""
