// The window nearest to a point, among those of the chunks that a report was made from.
// $corpus, $points: [{number, reports: [id of a community], vector}]
// → number, report, window, score: (1 + cosine) / 2
UNWIND $points AS point
UNWIND point.reports AS report
CALL (point, report) {
  MATCH (:Community {corpus: $corpus, id: report})-[:QUOTES]->(:Chunk)<-[:PART_OF]-(w:Window)
  RETURN w.id AS window, vector.similarity.cosine(w.embedding, point.vector) AS score
  ORDER BY round(score, 5) DESC, window
  LIMIT 1
}
RETURN point.number AS number, report, window, score
