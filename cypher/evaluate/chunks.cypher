// The chunks of documents in reading order, to compare retrieved passages with.
// $corpus, $documents: [id]
// → source, id, start, end, text
UNWIND $documents AS document
MATCH (d:Document {corpus: $corpus, id: document})
MATCH (c:Chunk {corpus: $corpus})-[:FROM_DOCUMENT]->(d)
WHERE c.id IS NOT NULL
RETURN d.source AS source, c.id AS id, c.start AS start, c.end AS end,
       coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text
ORDER BY source, c.index
