// Take the lock of a corpus; one row if more than $most of the visible chunks of a document have their edges counted,
// none otherwise.
// $corpus, $document, $most
// → counted
MERGE (lock:E2GLock {corpus: $corpus})
DELETE lock
WITH count(*) AS locked
MATCH (c:Chunk {corpus: $corpus, document: $document})
WHERE NOT c:UncountedChunk
WITH count(c) AS counted
WHERE counted > $most
RETURN counted
