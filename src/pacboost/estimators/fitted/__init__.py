"""What all estimators share, and what a fitted vote can do: predict, explain, report, certify."""
