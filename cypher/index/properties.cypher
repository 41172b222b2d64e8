// The properties that the user gave to documents.
// $corpus, $ids
// → id, properties: all of the node; `claimed_properties`, as JSON: those that its next version gets
UNWIND $ids AS id
MATCH (d:Document {corpus: $corpus, id: id})
RETURN d.id AS id, properties(d) AS properties
