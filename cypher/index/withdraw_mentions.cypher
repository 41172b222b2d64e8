// Take the mentions from the chunks of a document, which are not visible until they have new ones. Edges and forms are
// adjusted before.
// $corpus, $document
MATCH (c:Chunk {corpus: $corpus, document: $document})
REMOVE c:Chunk
SET c:StagedChunk
WITH c
MATCH (c)<-[m:FROM_CHUNK]-(:Entity)
DELETE m
