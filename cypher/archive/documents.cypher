// Read the documents of a corpus, in the order of their ids.
// $corpus
// → id, source, title, ready, sha256, chunker, extractor, characters, losses, link_starts, link_ends, link_targets, work,
//   error, claimed, chunks, summaries, group_size, properties. chunks, summaries: how many it has; group_size: how many
//   nodes its first summary covers, which is the group size, null without one; properties: all that the node has
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
WITH d ORDER BY d.id
RETURN d.id AS id, d.source AS source, d.title AS title, coalesce(d.state = 'ready', false) AS ready, d.sha256 AS sha256,
       d.chunker AS chunker, d.extractor AS extractor, d.characters AS characters, d.losses AS losses,
       d.link_starts AS link_starts, d.link_ends AS link_ends, d.link_targets AS link_targets, d.work AS work,
       d.error AS error, d.claimed_properties AS claimed,
       COUNT { MATCH (:Chunk {corpus: $corpus, document: d.id}) } AS chunks,
       COUNT { MATCH (:Summary {corpus: $corpus, document: d.id}) } AS summaries,
       COLLECT {
         MATCH (s:Summary {corpus: $corpus, document: d.id, level: 1, index: 0})
         RETURN COUNT { (s)<-[:CHILD_OF]-(:Chunk) }
       }[0] AS group_size, properties(d) AS properties
ORDER BY id
