"""Where sample, learner and booster meet."""
