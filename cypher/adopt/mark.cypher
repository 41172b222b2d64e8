// Mark a corpus as adopted.
// $corpus, $adopts: the options, as JSON
MERGE (c:Corpus {corpus: $corpus})
ON CREATE SET c.chunks = 0, c.windows = 0
SET c.adopts = $adopts
