// What the mentions of a document are computed from: its chunks in reading order, with their windows.
// $corpus, $document
// → sha256, id, index, start, end, text, tokens, own, notes, told, keys: [key of an entity], windows: [[start, end]]
MATCH (d:Document {corpus: $corpus, id: $document, state: 'ready'})<-[:FROM_DOCUMENT]-(c:Chunk)
RETURN d.sha256 AS sha256, c.id AS id, c.index AS index, c.start AS start, c.end AS end,
       coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
         // include: their_text
       ][0], '') AS text,
       c.tokens AS tokens, c.own AS own, c.notes AS notes, c.told AS told,
       COLLECT { MATCH (c)<-[:FROM_CHUNK]-(e:Entity) RETURN e.key } AS keys,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN [w.start, w.end] ORDER BY w.index } AS windows
ORDER BY index
