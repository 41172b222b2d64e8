// The chunks that mention an entity most often, with the text around its first occurrence.
// $corpus, $name: of the entity, as written or in lower case
// :params {corpus: "sample", name: "Luke Farran"}
// → mentions, document, chunk, page, heading, text
MATCH (e:Entity {corpus: $corpus})
WHERE e.key = toLower($name) OR $name IN e.forms
WITH e ORDER BY e.chunks DESC, e.key LIMIT 1
WITH e, e.forms + COLLECT { MATCH (:Alias)-[r:ALIAS_OF]->(e) RETURN DISTINCT r.form } AS names
MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
WITH m, c, names ORDER BY m.count DESC, c.document, c.index LIMIT 25
WITH m, c, names,
     coalesce(c.text, [(c)-[r:STANDS_FOR]->(theirs) | reduce(joined = '', property IN r.text |
       joined + CASE WHEN theirs[property] IS :: STRING NOT NULL THEN theirs[property] + '\n\n' ELSE '' END)
     ][0], '') AS whole
WITH m, c, whole, coalesce([name IN names WHERE whole CONTAINS name | size(split(whole, name)[0])][0], 0) AS at
WITH m, c, whole, CASE WHEN at > 100 THEN at - 100 ELSE 0 END AS start
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN m.count AS mentions, d.title AS document, c.index AS chunk, coalesce(c.page, '') AS page,
       coalesce(c.heading, '') AS heading,
       '… ' + replace(replace(substring(whole, start, 300), '\n\n', ' '), '\n', ' ') + ' …' AS text
ORDER BY mentions DESC, document, chunk
