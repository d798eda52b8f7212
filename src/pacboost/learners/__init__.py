"""Weak learners: given weights on a sample, each finds a rule with an edge."""
