"""Majorities of boosted or filtered rules, as in the early proofs of boosting."""
