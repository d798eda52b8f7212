"""Where examples come from: arrays, data frames, files, and distributions with known risk."""
