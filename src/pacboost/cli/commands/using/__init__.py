"""Commands that use a model: predict, ask, inspect, report and export."""
