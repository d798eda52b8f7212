"""What the commands read: files, rows and models."""
