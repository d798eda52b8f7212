"""Where examples come from: arrays, data frames, CSV files, and small worlds of our own."""
