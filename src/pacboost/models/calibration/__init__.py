"""Calibrated probabilities."""
