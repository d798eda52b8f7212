"""How a fit runs: rows, automatic values, recipes and the trial that chooses between them."""
