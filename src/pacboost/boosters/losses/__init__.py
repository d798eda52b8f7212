"""The losses of regression, each in the file that has its name."""
