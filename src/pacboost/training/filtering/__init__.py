"""Boosting by filtering: learn from an oracle, and keep only what is hard."""
