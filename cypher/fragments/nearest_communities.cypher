// The communities nearest to a vector.
// $corpus, $vector, $many
// → m, score: (1 + cosine) / 2
CYPHER 25
MATCH (m:Community)
  SEARCH m IN (VECTOR INDEX e2g_community_embedding FOR $vector WHERE m.corpus = $corpus LIMIT $many) SCORE AS score
