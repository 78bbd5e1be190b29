"""Python interpreters with their packages: what is known of each before a worker runs there."""
