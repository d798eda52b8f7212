"""Kinds of columns: how the cells of each are read as numbers, and how numbers are shown."""
