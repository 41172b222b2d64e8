// The entities whose names are nearest to a vector. The index is approximate, so it is asked for $candidates.
// $corpus, $vector, $candidates, $many
// → e, score: (1 + cosine) / 2
CYPHER 25
MATCH (e:Entity)
  SEARCH e IN (VECTOR INDEX e2g_entity_embedding FOR $vector WHERE e.corpus = $corpus LIMIT $candidates) SCORE AS score
WITH e, score ORDER BY round(score, 5) DESC, e.key LIMIT $many
