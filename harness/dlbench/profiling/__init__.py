"""Ranges for profilers, and the hidden work of an exchange: all that is never timed."""
