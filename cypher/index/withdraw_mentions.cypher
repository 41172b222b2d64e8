// Take the mentions from visible chunks, which are not visible until they have new ones. Edges and forms are adjusted
// before.
// $corpus, $chunks: [id]
UNWIND $chunks AS chunk
MATCH (c:Chunk {corpus: $corpus, id: chunk})
REMOVE c:Chunk
SET c:StagedChunk
WITH c
MATCH (c)<-[m:FROM_CHUNK]-(:Entity)
DELETE m
