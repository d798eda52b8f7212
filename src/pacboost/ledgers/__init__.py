"""Ledgers: the record of a run, as plain numbers."""
