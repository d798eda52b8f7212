"""Estimators that combine several boosters or hypotheses."""
