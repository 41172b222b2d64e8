// The entities whose names are near a keyword, and others. The index is approximate, so it is asked for $candidates.
// $corpus, $candidates
// ← keyword: {vector}
// → e, score: (1 + cosine) / 2
CYPHER 25
MATCH (e:Entity)
  SEARCH e IN (
    VECTOR INDEX e2g_entity_embedding FOR keyword.vector WHERE e.corpus = $corpus LIMIT $candidates
  ) SCORE AS score
