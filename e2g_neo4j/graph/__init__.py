"""The stored graph: writer, lease, schema, catalog and doctor, with the tasks and keys of the service."""
