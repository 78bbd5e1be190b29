"""A document as lines for a terminal."""
