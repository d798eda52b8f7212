"""The lab: a page in the browser that shows boosting round by round.

Requests describe runs completely (``spec.py``), so the server is stateless but for a cache of runs.
Every number on the page is computed by the library.
"""
