"""The retrieval modes, one per file. Each gets a `Query` and returns ranked windows, or nodes, best first.

`e2g_neo4j.retrieval.rankings` is the table of modes, `Mode` in `e2g_neo4j.retrieval.options` says what each does.
`e2g` selects chunks like the paper instead. `e2g_neo4j.retrieval.retrieve` chooses the route.
"""
