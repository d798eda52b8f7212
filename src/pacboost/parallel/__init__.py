"""Threads, processes and clusters: how many there are, and how tasks run on them."""
