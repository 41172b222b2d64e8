"""The service: HTTP, MCP and a page over the async client, and the worker that runs its tasks."""
