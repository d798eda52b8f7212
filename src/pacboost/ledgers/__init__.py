"""What happened, as plain numbers."""
