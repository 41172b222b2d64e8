"""From a question to passages: options, filters, ranking and templates; `strategies/` has one file per mode."""
