// The entities that all of some documents mention: names before nouns, those in fewest documents of the corpus first. $only:
// only those that no other document mentions.
// $corpus, $documents: [id], $only, $limit
// → key, name, type, types: [{type, count}], forms: [{form, count}], aliases: [name], description, mentions, chunks,
//   documents
MATCH (:Document {corpus: $corpus, id: $documents[0]})<-[:FROM_DOCUMENT]-(:Chunk)<-[:FROM_CHUNK]-(e:Entity)
WITH DISTINCT e
WHERE all(id IN $documents WHERE EXISTS { (e)-[:FROM_CHUNK]->(:Chunk {corpus: $corpus, document: id}) })
  AND NOT ($only AND EXISTS { MATCH (e)-[:FROM_CHUNK]->(c:Chunk) WHERE NOT c.document IN $documents })
MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
WITH e, coalesce(e.type = 'noun', false) AS noun, sum(m.count) AS mentions, count(DISTINCT c.document) AS documents
ORDER BY noun, documents, mentions DESC, e.key LIMIT $limit
RETURN
  // include: entity_columns
  , mentions, e.chunks AS chunks, documents
ORDER BY coalesce(e.type = 'noun', false), documents, mentions DESC, key
