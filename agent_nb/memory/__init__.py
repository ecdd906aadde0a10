"""Memory: what outlives the session."""
