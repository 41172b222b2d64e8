// Which of some labels and relationship types nodes and relationships have that are of no typed graph.
// $labels, $types
// → labels: [name], types: [name]
CALL () {
  CALL db.labels() YIELD label
  WITH label WHERE label IN $labels
  CALL (label) {
    MATCH (n:$(label))
    WHERE coalesce(n.typed_label, '') <> label
    RETURN true AS found LIMIT 1
  }
  RETURN collect(label) AS labels
}
CALL () {
  CALL db.relationshipTypes() YIELD relationshipType AS type
  WITH type WHERE type IN $types
  CALL (type) {
    MATCH ()-[r:$(type)]->()
    WHERE r.corpus IS NULL OR r.statements IS NULL
    RETURN true AS found LIMIT 1
  }
  RETURN collect(type) AS types
}
RETURN labels, types
