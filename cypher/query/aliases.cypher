// The aliases, document by document, with the entity that each resolves to and why; and the names that were split,
// without an entity, or merged by hand but occur nowhere, without a document.
// $corpus, $words: a part of a key, of the alias or of the entity; $key: that of the alias, $document: its id, $limit; key
// and document are null for any
// → key, name, entity, entity_name, document, title, count, why, apart
MATCH (a:Alias {corpus: $corpus})
WHERE a.key IS NOT NULL AND ($key IS NULL OR a.key = $key)
OPTIONAL MATCH (a)-[r:ALIAS_OF]->(e:Entity)
WITH a, r, e
WHERE ($document IS NULL OR r.document = $document) AND (a.key CONTAINS $words OR coalesce(e.key, a.into) CONTAINS $words) AND (r IS NOT NULL OR a.apart OR a.into IS NOT NULL)
OPTIONAL MATCH (d:Document {corpus: $corpus, id: r.document})
RETURN a.key AS key, coalesce(r.form, a.key) AS name, coalesce(e.key, a.into) AS entity, coalesce(e.name, a.into) AS entity_name, d.id AS document,
       d.title AS title, coalesce(r.count, 0) AS count, coalesce(r.why, CASE WHEN a.into IS NOT NULL THEN 'by hand' END) AS why, coalesce(a.apart, false) AS apart
ORDER BY count DESC, key, entity, document LIMIT $limit
