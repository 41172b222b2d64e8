// The documents of a corpus, by title.
// $corpus
// → id, title, source, state, chunks, characters, tokens
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
RETURN d.id AS id, d.title AS title, d.source AS source, d.state AS state,
       COUNT { (d)<-[:FROM_DOCUMENT]-(:Chunk) } AS chunks,
       coalesce(d.characters, 0) AS characters, coalesce(d.tokens, 0) AS tokens
ORDER BY title, source
