// The communities of a corpus, those of the coarsest level first, with their reports. A corpus has them after
// `e2g enrich`.
// $corpus
// :params {corpus: "sample"}
// → title, level, entities, report
MATCH (c:Community {corpus: $corpus})
WHERE c.id IS NOT NULL
WITH c ORDER BY c.level DESC, c.entities DESC, c.id LIMIT 100
RETURN c.title AS title, c.level AS level, c.entities AS entities, c.text AS report
ORDER BY level DESC, entities DESC, title
