"""One boosting run on one sample: the loop, what it measures and what it records."""
