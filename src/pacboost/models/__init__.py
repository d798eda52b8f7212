"""The fitted model, and the file it is kept in."""
