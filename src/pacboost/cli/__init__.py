"""The ``pacboost`` command."""
