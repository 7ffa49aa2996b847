"""Play games and measure players: matches, tournaments, evaluations, Elo with intervals, sequential tests."""
