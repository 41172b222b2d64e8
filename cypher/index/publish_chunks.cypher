// Make the staged chunks of documents visible.
// $corpus, $documents: [id]
UNWIND $documents AS document
MATCH (c:StagedChunk {corpus: $corpus, document: document})
REMOVE c:StagedChunk
SET c:Chunk
