"""Kernels for NVIDIA GPUs, in CUDA C++: each gives the very bits of its twin for the CPU.

``device`` compiles the .cu files, ``twins`` runs them; pacboost.kernels.device finds the GPU.
"""
