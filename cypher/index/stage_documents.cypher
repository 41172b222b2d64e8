// Announce documents that are being indexed. One that is ready already stays ready until the new one is published.
// $corpus, $rows: [{id, source, title}]
UNWIND $rows AS row
MERGE (d:Document {corpus: $corpus, id: row.id})
ON CREATE SET d.source = row.source, d.title = row.title, d.state = 'indexing'
