// The documents of a corpus whose properties meet all conditions, among those that queries see.
//
// A property of several values meets a condition if one of them does. Values of different types are not equal, and none
// is less than the other. `windows` counts the windows of these documents, `index_windows` those of all corpora.
// $corpus, $where: [{property, operator, values}]: one value, or for `=` those of which one is equal
// → documents: [id], of, windows, index_windows. of: how many documents queries see
CALL () {
  MATCH (d:Document {corpus: $corpus, state: 'ready'})
  WHERE d.id IS NOT NULL
  RETURN count(d) AS of
}
CALL () {
  MATCH (d:Document {corpus: $corpus, state: 'ready'})
  WHERE d.id IS NOT NULL AND all(one IN $where WHERE any(value IN [] + d[one.property] WHERE
    CASE one.operator
      WHEN '=' THEN value IN one.values
      WHEN '<' THEN value < one.values[0]
      WHEN '<=' THEN value <= one.values[0]
      WHEN '>' THEN value > one.values[0]
      WHEN '>=' THEN value >= one.values[0]
    END))
  RETURN collect(d.id) AS documents, sum(d.windows) AS windows
}
CALL () {
  MATCH (c:Corpus)
  RETURN sum(c.windows) AS index_windows
}
RETURN documents, of, windows, index_windows
