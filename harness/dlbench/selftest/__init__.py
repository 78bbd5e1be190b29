"""`dlbench selftest`: plants faults, and tests that the instruments find them and report nothing
else."""
