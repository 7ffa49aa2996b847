"""What stands between a search and a costly evaluation."""
