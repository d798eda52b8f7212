"""The estimator that boosts by filtering, from arrays, files and streams."""
