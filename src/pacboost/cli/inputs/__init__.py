"""Files, rows and models as the commands read them."""
