"""What users pass to estimators, checked and turned into tables, labels and parameters."""
