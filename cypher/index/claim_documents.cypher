// Assign documents to a run if no other run holds them, or one whose lease has expired. Documents that are ready stay
// visible until the new version is published, and so do their properties.
// $corpus, $run, $rows: [{id, source, title, properties}]: properties as JSON, null to keep them
UNWIND $rows AS row
MERGE (d:Document {corpus: $corpus, id: row.id})
ON CREATE SET d.source = row.source, d.title = row.title
WITH d, row
WHERE d.run IS NULL OR NOT EXISTS { MATCH (r:E2GRun {id: d.run}) WHERE r.expires > timestamp() }
SET d.run = $run, d.work = 'pending', d.claimed_properties = coalesce(row.properties, d.claimed_properties)
REMOVE d.error
