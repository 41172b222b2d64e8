// List what is stored about documents.
// $corpus, $ids
// → id, sha256, chunker, extractor, state, work, run, properties. properties: all of the node, with
//   `claimed_properties`: as JSON, those of the user that its next version gets.
UNWIND $ids AS id
MATCH (d:Document {corpus: $corpus, id: id})
RETURN d.id AS id, d.sha256 AS sha256, d.chunker AS chunker, d.extractor AS extractor, d.state AS state,
       d.work AS work, d.run AS run, properties(d) AS properties
