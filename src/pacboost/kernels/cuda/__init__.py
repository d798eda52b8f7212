"""Kernels for NVIDIA GPUs, in CUDA C++: each gives the very bits of its twin for the CPU.

``device`` finds the GPU, ``module`` compiles the .cu files, ``twins`` runs them.
"""
