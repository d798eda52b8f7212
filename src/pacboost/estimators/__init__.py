"""The scikit-learn API: parameters in, rooms called in order, attributes out."""
