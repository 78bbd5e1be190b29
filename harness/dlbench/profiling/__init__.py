"""Ranges for profilers, and the hidden work of an exchange; nothing here is timed."""
