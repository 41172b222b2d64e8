// How many chunks and windows queries see in a corpus: what the rarity of an entity is measured against.
// $corpus
MATCH (c:Corpus {corpus: $corpus})
CALL () {
  MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL
  RETURN sum(d.chunks) AS chunks, sum(d.windows) AS windows
}
SET c.chunks = chunks, c.windows = windows
