"""Commands that train models, or plan it: fit, compare, plan and diagnose."""
