// At most $limit imported chunks with their windows and mentions, in the order of their ids.
// $corpus, $after: an id, $limit
// → chunk, text, start, end, own, notes, shares, weights, windows: [{id, index, start, end, text}], mentions: [{sentences,
//   windows}]
MATCH (c:Chunk {corpus: $corpus})
WHERE c.id > $after
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS chunk, c.text AS text, c.start AS start, c.end AS end, c.own AS own, c.notes AS notes,
       c.window_shares AS shares, c.window_weights AS weights,
       COLLECT { MATCH (c)<-[:PART_OF]-(w:Window) RETURN w {.id, .index, .start, .end, .text} ORDER BY w.index } AS windows,
       [(c)<-[m:FROM_CHUNK]-(:Entity) | m {.sentences, .windows}] AS mentions
ORDER BY chunk
