"""A fitted model as a program that runs without pacboost: Python, C or ONNX."""
