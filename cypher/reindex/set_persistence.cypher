// Write the topic persistence of documents.
// $corpus, $rows: [{document, persistence}]
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.document})
SET d.persistence = row.persistence
