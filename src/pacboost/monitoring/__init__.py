"""A model in use: is its certificate still true, and do the rows still look alike?"""
