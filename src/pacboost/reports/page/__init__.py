"""The report: one HTML file that needs nothing but itself, made from a model and perhaps rows."""
