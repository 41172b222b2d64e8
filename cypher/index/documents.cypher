// List what is stored about documents.
// $corpus, $ids
// → id, source, title, sha256, chunker, extractor, state, work, run
UNWIND $ids AS id
MATCH (d:Document {corpus: $corpus, id: id})
RETURN d.id AS id, d.source AS source, d.title AS title, d.sha256 AS sha256, d.chunker AS chunker,
       d.extractor AS extractor, d.state AS state, d.work AS work, d.run AS run
