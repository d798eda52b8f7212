"""Examples in memory: codes for our own learners, raw rows for black boxes."""
