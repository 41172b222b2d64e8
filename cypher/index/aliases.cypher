// Write which names resolve to another entity in documents. The name of an alias is its most frequent spelling.
// $corpus, $rows: [{document, name, full, count, form, why}]
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.full})
MERGE (a:Alias {corpus: $corpus, key: row.name})
CREATE (a)-[:ALIAS_OF {corpus: $corpus, document: row.document, count: row.count, form: row.form, why: row.why}]->(e)
WITH DISTINCT a
OPTIONAL MATCH (a)-[r:ALIAS_OF]->()
WITH a, r.form AS form, sum(r.count) AS count ORDER BY count DESC, form = toUpper(form), form
WITH a, collect(form)[0] AS name
SET a.name = name
