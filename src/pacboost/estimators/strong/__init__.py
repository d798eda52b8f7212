"""StrongClassifier: ask for an error and a confidence."""
