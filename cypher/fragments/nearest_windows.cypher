// The windows nearest to a vector, all of a corpus.
// $corpus, $vector, $many
// → w, score: (1 + cosine) / 2
CYPHER 25
MATCH (w:Window)
  SEARCH w IN (VECTOR INDEX e2g_window_embedding FOR $vector WHERE w.corpus = $corpus LIMIT $many) SCORE AS score
