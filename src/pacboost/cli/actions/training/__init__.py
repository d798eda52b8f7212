"""What the commands that train models do."""
