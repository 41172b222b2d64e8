"""The ways to rank text that decide no route, one a file: each is a story that returns ranked nodes, best first.

`auto` and `diffusion` rank windows by what vectors, words and entities say; `dense`, `tree`, `fulltext` and `hybrid`
leave the entity graph out, for comparison. The paper's own way is in `e2g_neo4j.retrieval`.
"""
