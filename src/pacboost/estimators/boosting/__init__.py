"""Estimators that boost."""
