"""Theorems: from the ledger to a certificate. A bound refuses rather than guesses."""
