"""Passes of a run over its measured exchanges after the timed rounds, a file each."""
