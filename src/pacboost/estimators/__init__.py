"""The scikit-learn API: estimators that read their parameters, fit, and leave attributes."""
