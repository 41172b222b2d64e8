// The $limit windows nearest to a vector.
// $corpus, $vector, $limit
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// → chunk, document, index, tokens, shares, persistence, scores: [[window number, score]]. A row for each chunk with
//   such a window, with the share of its text that each of its windows has. A score is (1 + cosine) / 2.
// include: nearest_windows, $limit for $many
MATCH (w)-[:PART_OF]->(c:Chunk)
WITH c, collect([w.index, score]) AS scores
MATCH (d:Document {corpus: $corpus, id: c.document})
RETURN c.id AS chunk, d.id AS document, c.index AS index, c.tokens AS tokens, c.window_shares AS shares,
       d.persistence AS persistence, scores
