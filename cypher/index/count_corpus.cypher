// Count the visible chunks and windows of a corpus. The rarity of entities and
// words is computed from these numbers. Its revision is one more. A corpus without visible documents gets no Corpus node,
// unless it was adopted.
// $corpus
MERGE (c:Corpus {corpus: $corpus})
WITH c
OPTIONAL MATCH (d:Document {corpus: $corpus, state: 'ready'})
WHERE d.id IS NOT NULL
WITH c, count(d) AS documents, sum(d.chunks) AS chunks, sum(d.windows) AS windows
SET c.chunks = chunks, c.windows = windows, c.revision = coalesce(c.revision, 0) + 1
WITH c, documents
WHERE documents = 0 AND c.adopts IS NULL
DELETE c
