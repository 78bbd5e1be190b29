"""`dlbench track`: exchanges over the versions of a library."""
