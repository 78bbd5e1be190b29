"""`dlbench selftest`: faults are planted, and the instruments must find them and nothing else."""
