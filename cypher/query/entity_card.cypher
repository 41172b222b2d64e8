// An entity as `query/entities` tells it, with where its description comes from, its mentions by document, the $neighbours
// that share most sentences with it, names before nouns, the title of its finest community, and the nodes of the user's
// graph that it refers to. Their names are as in `query/facts`. At most $limit documents and nodes.
// $corpus, $key, $neighbours, $limit
// → key, name, type, types: [{type, count}], forms: [{form, count}], aliases: [name], description, mentions, chunks,
//   documents, source: {chunk, document, title, start, end}, by_document: [{document, title, mentions}],
//   neighbours: [{key, name, type, weight, sentences}], community, linked: [{node, labels, name, method, score}].
//   source and community: null without one
MATCH (e:Entity {corpus: $corpus, key: $key})
WHERE e.chunks > 0
CALL (e) {
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
  MATCH (d:Document {corpus: $corpus, id: c.document})
  WITH d, sum(m.count) AS mentions ORDER BY mentions DESC, d.title, d.id
  WITH collect({document: d.id, title: d.title, mentions: mentions}) AS found
  RETURN found[..$limit] AS by_document, size(found) AS documents,
         reduce(sum = 0, one IN found | sum + one.mentions) AS mentions
}
CALL (e) {
  MATCH (e)-[r:CO_OCCURS]-(n:Entity)
  WITH n, r ORDER BY coalesce(n.type = 'noun', false), r.weight DESC, n.key LIMIT $neighbours
  RETURN collect({key: n.key, name: n.name, type: n.type, weight: r.weight, sentences: r.count}) AS neighbours
}
RETURN
  // include: entity_columns
  , mentions, e.chunks AS chunks, documents,
  COLLECT {
    MATCH (c:Chunk {corpus: $corpus, id: e.description_chunk})
    MATCH (d:Document {corpus: $corpus, id: c.document})
    RETURN {chunk: c.id, document: d.id, title: d.title, start: c.start, end: c.end}
  }[0] AS source,
  by_document, neighbours,
  COLLECT { MATCH (e)-[:IN_COMMUNITY]->(c:Community) RETURN c.title ORDER BY c.level, c.id LIMIT 1 }[0] AS community,
  COLLECT {
    MATCH (e)-[r:REFERS_TO]->(n)
    WITH n, r ORDER BY r.score DESC, elementId(n) LIMIT $limit
    RETURN {
      node: elementId(n), labels: labels(n), method: r.method, score: r.score,
      name: left(coalesce(toStringOrNull(n[r.property]), toStringOrNull(n.name), toStringOrNull(n.title),
                          toStringOrNull(n.label), toStringOrNull(n.id), elementId(n)), 200)
    }
  } AS linked
