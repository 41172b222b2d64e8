// Remove the aliases of documents. Names that were split or merged by hand stay recorded.
// $corpus, $documents: [id]
UNWIND $documents AS document
MATCH (a:Alias)-[r:ALIAS_OF {corpus: $corpus, document: document}]->(:Entity)
DELETE r
WITH DISTINCT a
OPTIONAL MATCH (a)-[r:ALIAS_OF]->()
WITH a, r.form AS form, sum(r.count) AS count ORDER BY count DESC, form = toUpper(form), form
WITH a, collect(form)[0] AS name
SET a.name = name
WITH a, name
WHERE name IS NULL AND a.apart IS NULL AND a.into IS NULL AND a.documents IS NULL
DELETE a
