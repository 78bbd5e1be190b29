"""What a run asks of its measured exchanges after the timed rounds, a file each."""
