"""Boosting by filtering, from files, databases and streams."""
