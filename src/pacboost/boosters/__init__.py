"""Boosters, one file each: how rows are weighted and rules get votes.

A booster never sees features, a learner or a clock. What several boosters share is in ``base``; the
boosters of regression are in ``regression``. The name of a file is the name of its booster.
"""
