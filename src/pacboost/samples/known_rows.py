"""When rows repeat so often that their domain is taken to be discrete."""

MOST_EQUAL = 2 / 3
"""If more of the rows set apart repeat, the domain is discrete."""
