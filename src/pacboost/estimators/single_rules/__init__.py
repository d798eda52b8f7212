"""Estimators that learn a single rule: rectangles and version spaces."""
