// The statements nearest to a vector, all of a corpus.
// $corpus, $vector, $many
// → s, score: (1 + cosine) / 2
CYPHER 25
MATCH (s:Statement)
  SEARCH s IN (VECTOR INDEX e2g_statement_embedding FOR $vector WHERE s.corpus = $corpus LIMIT $many) SCORE AS score
