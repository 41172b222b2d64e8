// The visible chunks of a document, with the ids of the next one and of the summary that stands on them.
// $corpus, $document
// → id, index, start, end, page, heading, notes, told, windows: [[start, end]], next, parent
MATCH (c:Chunk {corpus: $corpus, document: $document})
RETURN c.id AS id, c.index AS index, c.start AS start, c.end AS end, c.page AS page, c.heading AS heading,
       c.notes AS notes, c.told AS told,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN [w.start, w.end] ORDER BY w.index } AS windows,
       [(c)-[:NEXT_CHUNK]->(n:Chunk) | n.id][0] AS next, [(c)-[:CHILD_OF]->(s:Summary) | s.id][0] AS parent
