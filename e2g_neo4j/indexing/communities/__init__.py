"""Communities of entities that occur together, with a report each."""
