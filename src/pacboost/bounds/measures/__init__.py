"""One file for each measure; it has the name of the measure (docs/extending/measure.md)."""
