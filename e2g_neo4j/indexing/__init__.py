"""From documents to a graph: chunks, entities, names, summary tree, references, and the layers of `enrich`."""
