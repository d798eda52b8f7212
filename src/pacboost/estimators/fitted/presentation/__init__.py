"""What people see of a fitted model: notebooks, explanations, plots and reports."""
