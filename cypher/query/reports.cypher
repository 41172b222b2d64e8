// The reports of communities.
// $corpus, $ids
// → id, title, text
UNWIND $ids AS id
MATCH (m:Community {corpus: $corpus, id: id})
RETURN id, m.title AS title, m.text AS text
