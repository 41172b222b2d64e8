// At most $limit visible chunks without the vectors of their sentences, in the order of their ids. `missing` is the
// number of all of them after $after.
// $corpus, $after: an id, $limit
// → chunk, own, notes, text, missing
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id > $after AND c.sentence_vectors IS NULL
WITH c ORDER BY c.id
WITH collect(c) AS found
UNWIND found[..$limit] AS c
RETURN c.id AS chunk, c.own AS own, c.notes AS notes,
       coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text,
       size(found) AS missing
ORDER BY chunk
