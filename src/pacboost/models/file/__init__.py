"""The model file: reading, writing and inspecting it."""
