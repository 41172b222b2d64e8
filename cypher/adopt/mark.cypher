// Mark a corpus as adopted.
// $corpus, $adopts: the options, as JSON, $properties: the names of the properties that its documents take over, or null
MERGE (c:Corpus {corpus: $corpus})
ON CREATE SET c.chunks = 0, c.windows = 0
SET c.adopts = $adopts, c.adopted_properties = $properties
