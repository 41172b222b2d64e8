// Read the source and the version of documents that an answer cites. Those that are gone have no row.
// $cited: [[corpus, id]]
// → corpus, document, source, sha256
UNWIND $cited AS place
MATCH (d:Document {corpus: place[0], id: place[1]})
RETURN d.corpus AS corpus, d.id AS document, d.source AS source, d.sha256 AS sha256
