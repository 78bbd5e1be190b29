"""Instructions of one exchange, counted by valgrind's callgrind."""
