"""Decisions with a guarantee: thresholds, abstention, prediction sets and intervals."""
