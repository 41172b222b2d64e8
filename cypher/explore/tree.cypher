// The upper part of a document's tree: its summaries from the highest level down, at most 60.
// $corpus, $title: of the document
// :params {corpus: "sample", title: "Court of inquiry"}
// → s, up
MATCH (d:Document {corpus: $corpus, title: $title})
WHERE d.id IS NOT NULL
WITH d ORDER BY d.source LIMIT 1
MATCH (s:Summary {corpus: $corpus, document: d.id})
WITH s ORDER BY s.level DESC, s.index LIMIT 60
OPTIONAL MATCH up = (s)-[:CHILD_OF]->(:Summary)
RETURN s, up
