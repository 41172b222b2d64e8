// Give documents to a run: those that no other run holds, or one that has expired. Documents that are ready stay so
// until the new version is published.
// $corpus, $run, $rows: [{id, source, title}]
UNWIND $rows AS row
MERGE (d:Document {corpus: $corpus, id: row.id})
ON CREATE SET d.source = row.source, d.title = row.title
WITH d
WHERE d.run IS NULL OR NOT EXISTS { MATCH (r:E2GRun {id: d.run}) WHERE r.expires > timestamp() }
SET d.run = $run, d.work = 'pending'
REMOVE d.error
