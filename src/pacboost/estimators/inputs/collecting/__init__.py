"""Collect rows that are not arrays in memory yet: lazy frames, Dask collections, a GPU."""
