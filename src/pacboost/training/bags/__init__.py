"""Many members, each fitted to a bag of rows: bagging and forests."""
