"""The commands, one a file, light to import: what is heavy is imported where it is used."""
