"""Parts that several estimators share while they fit."""
