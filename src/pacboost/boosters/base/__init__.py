"""What boosters share: the interface, its capabilities, and the weights of whole families."""
