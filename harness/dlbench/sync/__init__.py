"""`--sync`: who waits for whom's queue, looked at in processes of their own after the rounds."""
