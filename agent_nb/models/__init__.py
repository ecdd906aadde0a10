"""Models: what answers the loop's questions."""
