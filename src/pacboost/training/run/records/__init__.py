"""What a run records: its rounds, the hardest rows, and margins."""
