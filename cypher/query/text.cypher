// The parts of a span of a document's text that its chunks hold, in reading order. Parts overlap where chunks do; white
// space around a chunk may be in none. If a chunk is an adopted text node, its part is a slice of that node's text, and
// `changed` is true if the length of that text is not what it was when it was indexed.
// $corpus, $document: id, $start, $end: characters
// → title, source, characters, place: {page, heading}, parts: [{start, end, text, changed}]. characters is the length of
//   the whole text. place is that of the last window that begins at $start or before, null if none reaches there; in it,
//   '' means none.
MATCH (d:Document {corpus: $corpus, id: $document, state: 'ready'})
RETURN d.title AS title, d.source AS source, coalesce(d.characters, 0) AS characters,
       COLLECT {
         MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)<-[:PART_OF]-(w:Window)
         WHERE c.start <= $start AND c.end > $start AND w.start <= $start AND w.end > $start
         RETURN {page: c.window_pages[w.index], heading: c.window_headings[w.index]}
         ORDER BY w.start DESC LIMIT 1
       }[0] AS place,
       COLLECT {
         MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)
         WHERE c.start < $end AND c.end > $start
         WITH c, coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) |
           // include: their_text
         ][0], '') AS whole,
              CASE WHEN c.start < $start THEN $start ELSE c.start END AS first,
              CASE WHEN c.end > $end THEN $end ELSE c.end END AS last
         RETURN {start: first, end: last, text: substring(whole, first - c.start, last - first),
                 changed: size(whole) <> c.end - c.start}
         ORDER BY c.index
       } AS parts
