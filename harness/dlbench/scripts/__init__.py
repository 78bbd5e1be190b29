"""Scripts that show a cell of a run, or a broken rule, to a reader without dlbench."""
