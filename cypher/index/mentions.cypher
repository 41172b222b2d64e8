// Write which staged chunk mentions which entity how often, and in which of its own sentences.
// $corpus, $rows: [{entity, chunk, count, sentences}]
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, name: row.entity})
MATCH (c:StagedChunk {corpus: $corpus, id: row.chunk})
CREATE (e)-[:FROM_CHUNK {count: row.count, sentences: row.sentences}]->(c)
