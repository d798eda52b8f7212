"""Oracles: sources of examples that are drawn in batches and need not fit in memory."""
