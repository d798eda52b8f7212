"""Loops over rows, compiled by numba: arrays in, arrays out. ``naive`` holds the NumPy twin of each.

A kernel works on one span of rows or columns and holds no lock, so ``threads`` can run several at
once. Spans never depend on the number of threads, and neither does any result.
"""
