"""The commands: the options and the help of each, light to import."""
