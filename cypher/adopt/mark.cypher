// Mark a corpus as one that stands on text nodes of somebody else's.
// $corpus, $adopts: with which options, as JSON
MERGE (c:Corpus {corpus: $corpus})
ON CREATE SET c.chunks = 0, c.windows = 0
SET c.adopts = $adopts
