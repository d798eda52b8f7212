"""Numbers that stay exact or round outward; NumPy and SciPy only."""
