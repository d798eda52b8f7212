"""The report: one HTML file that works offline, made from a model and perhaps rows."""
