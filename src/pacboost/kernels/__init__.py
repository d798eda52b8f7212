"""The door to the compiled kernels of src/native: arrays in, arrays out (docs/kernels.md).

``native`` holds the functions, ``team`` and ``threads`` say how many threads run them, and the
other files name what arrays and tuples hold. ``tests/kernels/naive.py`` has NumPy versions.
"""
