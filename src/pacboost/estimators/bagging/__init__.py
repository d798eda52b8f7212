"""Bagging of any learner."""
