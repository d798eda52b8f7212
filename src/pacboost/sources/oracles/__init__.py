"""Oracles: sources that are asked for examples, a few at a time, and never held as a whole."""
