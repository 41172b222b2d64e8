"""The types that calls of the clients take and return, and those that the modules share."""
