"""A fitted model as a program of its own: Python, C or ONNX, with nothing of pacboost in it."""
