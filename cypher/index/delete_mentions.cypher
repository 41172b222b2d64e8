// Remove the mentions of visible chunks and stage the chunks, so that they are not visible until they have new
// mentions. Edges and spellings are updated before.
// $corpus, $chunks: [id]
UNWIND $chunks AS chunk
MATCH (c:Chunk {corpus: $corpus, id: chunk})
REMOVE c:Chunk
SET c:StagedChunk
WITH c
MATCH (c)<-[m:FROM_CHUNK]-(:Entity)
DELETE m
