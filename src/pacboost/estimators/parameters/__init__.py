"""The parameters of estimators: names, defaults, checks and meanings, each declared once."""
