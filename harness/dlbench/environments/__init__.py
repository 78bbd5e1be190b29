"""Python interpreters with their packages, and the facts about each before a worker runs there."""
