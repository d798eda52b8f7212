"""Loops over rows, compiled by numba: arrays in, arrays out; ``naive`` holds each one's NumPy twin.

A kernel works on a share of the rows or columns and holds no lock, so ``threads`` can run several
at once; no result depends on how many.
"""
