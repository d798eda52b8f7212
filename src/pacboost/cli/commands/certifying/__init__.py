"""Commands that certify models, decide with a guarantee, and watch models in use."""
