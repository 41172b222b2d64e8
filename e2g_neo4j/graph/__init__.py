"""The stored graph: writer, lease, schema, catalog, doctor and archives, with the tasks and keys of the service."""
