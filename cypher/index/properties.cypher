// The properties of documents: all of the node, with `claimed_properties`, as JSON: those of the user that its next version
// gets.
// $corpus, $ids
// → id, properties
UNWIND $ids AS id
MATCH (d:Document {corpus: $corpus, id: id})
RETURN d.id AS id, properties(d) AS properties
