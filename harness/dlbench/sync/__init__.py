"""`--sync`: synchronization, classified in separate processes after the rounds."""
