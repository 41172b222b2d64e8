// The windows of documents in reading order, the documents by title.
// $corpus, $ids: of documents
// → id, tokens, windows: [id]
UNWIND $ids AS id
MATCH (d:Document {corpus: $corpus, id: id, state: 'ready'})
RETURN id, coalesce(d.tokens, 0) AS tokens,
       COLLECT {
         MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)<-[:PART_OF]-(w:Window)
         RETURN w.id ORDER BY c.index, w.index
       } AS windows
ORDER BY d.title, d.source
