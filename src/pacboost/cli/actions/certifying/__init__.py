"""What the commands that certify and watch models do."""
