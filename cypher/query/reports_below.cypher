// The reports of the communities directly within others.
// $corpus, $ids
// → id, parent, level, title, text, rating, entities. rating: null if the report is extractive; entities: how many
UNWIND $ids AS parent
MATCH (m:Community {corpus: $corpus})-[:PARENT]->(:Community {corpus: $corpus, id: parent})
RETURN m.id AS id, parent, m.level AS level, m.title AS title, m.text AS text, m.rating AS rating,
       m.entities AS entities
ORDER BY parent, entities DESC, id
