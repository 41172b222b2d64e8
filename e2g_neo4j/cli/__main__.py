"""`python -m e2g_neo4j.cli` is `e2g`."""

from e2g_neo4j.cli import main

main()
