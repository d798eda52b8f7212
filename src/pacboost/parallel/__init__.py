"""How many cores there are for us, and how work is spread over them."""
