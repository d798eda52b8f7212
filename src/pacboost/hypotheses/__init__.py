"""What is learned: rules that answer -1 or +1, and the vote that combines them."""
