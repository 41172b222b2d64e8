// Add entities to staged communities.
// $corpus, $run, $rows: [{id, entity}]
UNWIND $rows AS row
MATCH (c:StagedCommunity {corpus: $corpus, run: $run, id: row.id})
MATCH (e:Entity {corpus: $corpus, key: row.entity})
CREATE (e)-[:IN_COMMUNITY]->(c)
