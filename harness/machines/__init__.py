"""One matrix over several machines: a file that names them, and ReFrame, which runs on each."""
