"""Theorems: from the ledger to a certificate. A bound raises an error if it does not apply."""
