"""The retrieval modes, one per file. Most are operations that return ranked nodes, best first.

`auto` and `diffusion` rank windows by vectors, words and entities, `routes` by vectors, entities and their neighbours,
`pagerank` by the relations of entities that have most PageRank, `hipporag` and `linear` by PageRank over entities and
windows.
`dense`, `tree`, `fulltext` and `hybrid` do not use the entity graph. `e2g` selects chunks like the paper.
`e2g_neo4j.retrieval.retrieve` chooses the route.
"""
