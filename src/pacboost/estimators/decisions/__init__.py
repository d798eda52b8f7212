"""What a fitted model decides: thresholds, sets, intervals, abstention."""
