// How near windows are to a vector.
// $corpus, $ids, $vector
// → id, score. A score is (1 + cosine) / 2.
UNWIND $ids AS id
MATCH (w:Window {corpus: $corpus, id: id})
RETURN id, vector.similarity.cosine(w.embedding, $vector) AS score
