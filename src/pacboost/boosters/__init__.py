"""Rules for weighing rows and rounds: pure arithmetic that never sees data, learner or clock."""
