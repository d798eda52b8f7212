"""The lab: a page in the browser that shows boosting at work, driven by the real engine.

Requests describe a run as a whole (``spec.py``), so nothing has to be remembered between them; runs
are only cached. Every number on the page is computed here, by the same code as everywhere else.
"""
