"""A run from its options to its files."""
