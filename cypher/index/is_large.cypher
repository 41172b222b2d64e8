// Take the lock of a corpus. Return one row if the edges of more than $most visible chunks of a document are counted,
// else none.
// $corpus, $document, $most
// → counted
// include: lock
MATCH (c:Chunk {corpus: $corpus, document: $document})
WHERE NOT c:UncountedChunk
WITH count(c) AS counted
WHERE counted > $most
RETURN counted
