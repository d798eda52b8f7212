"""Draw candidates from arrays or blocks, encode them, and keep those that are accepted."""
