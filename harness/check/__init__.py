"""`dlbench check`: tests one library against the protocols, rule by rule; dlbench is the other
library."""
